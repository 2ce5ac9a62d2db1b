"""LangGraph's store on a database server: the clauses where a database could make a difference."""

import pytest

from langchain_memengine.faces.store import MemEngineStore
from tests.faces.store_contract import StoreContract
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine


class TestStore:
    @pytest.fixture
    def clock(self):
        return FixedClock()

    @pytest.fixture
    def store(self, url, store_id, clock):
        settings = {"database_url": url, "store_id": store_id, "clock": clock}
        with make_engine(embeddings=FakeEmbeddings(256), **settings) as engine:
            yield MemEngineStore(engine, fields=["text"])

    @pytest.fixture(autouse=True)
    def _remember_clock(self, clock):
        self.clock = clock

    def wait(self):
        self.clock.pass_days(1)

    test_values = StoreContract.test_an_item_comes_back_with_namespace_key_value_and_times
    test_created = StoreContract.test_an_update_keeps_the_time_of_creation
    test_deleted = StoreContract.test_a_deleted_item_is_gone_and_deleting_it_again_is_fine
    test_characters = StoreContract.test_batches_take_labels_and_keys_of_any_characters_apart
    test_order = StoreContract.test_results_come_in_the_order_of_the_operations
    test_last_put = StoreContract.test_the_last_of_two_puts_in_one_batch_counts
    test_prefixes = StoreContract.test_search_returns_what_is_in_and_under_a_namespace
    test_pages = StoreContract.test_limit_and_offset_page_through_everything_once
    test_query = StoreContract.test_the_item_that_is_meant_comes_first_with_the_highest_score
    test_updated = StoreContract.test_an_update_is_found_by_its_new_words_only
    test_no_items = StoreContract.test_a_namespace_without_items_is_not_listed
