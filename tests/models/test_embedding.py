import math
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib import import_module
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import EmbeddingError, MissingDependencyError
from langchain_memengine.models.embedding import PROBE, Embedder
from tests.fakes.embeddings import FakeEmbeddings


class ProviderError(Exception):
    """As the clients of providers raise it: a status, and an answer with headers."""

    def __init__(self, status, headers=None, message="it failed"):
        super().__init__(message)
        self.status_code = status
        self.response = SimpleNamespace(status_code=status, headers=headers or {})


class Refusing(FakeEmbeddings):
    """Refuses every request that holds one of the bad texts."""

    def __init__(self, *bad, status=400):
        super().__init__(8)
        self.status = status
        self.bad = set(bad)

    def embed_documents(self, texts):
        answer = super().embed_documents(texts)
        if self.bad & set(texts):
            raise ProviderError(self.status)
        return answer


def embedder_of(fake, waits=None, **settings):
    sleep = [].append if waits is None else waits.append
    settings = {"name": "Fake/words", "sleep": sleep, "monotonic": lambda: 0.0, **settings}
    return Embedder(fake, **settings)


def unit(*numbers):
    vector = np.array(numbers, dtype=np.float64)
    return vector / np.linalg.norm(vector)


class TestVectors:
    def test_are_float32_of_length_one(self):
        fake = FakeEmbeddings(fail_with=[lambda answer: [[3.0, 4.0], [0.0, -2.0]]])
        vectors = embedder_of(fake).embed_texts(["a", "b"])
        assert vectors.dtype == np.float32
        assert vectors.tolist() == [[np.float32(0.6), np.float32(0.8)], [0.0, -1.0]]

    def test_large_numbers_do_not_overflow(self):
        fake = FakeEmbeddings(fail_with=[lambda answer: [[3e30, 4e30]]])
        assert embedder_of(fake).embed_texts(["a"])[0] == pytest.approx([0.6, 0.8])

    def test_no_texts_ask_nothing_and_have_the_known_dimension(self):
        fake = FakeEmbeddings(8)
        embedder = embedder_of(fake)
        assert embedder.embed_texts([]).shape == (0, 0)
        embedder.embed_texts(["a"])
        assert embedder.embed_texts([]).shape == (0, 8)
        assert len(fake.calls) == 1

    @given(st.lists(st.text("abc ", min_size=1).filter(str.strip)), st.integers(1, 5))
    def test_come_in_the_order_of_the_texts_whatever_the_batches(self, texts, batch_size):
        vectors = embedder_of(FakeEmbeddings(8), batch_size=batch_size).embed_texts(texts)
        alone = [embedder_of(FakeEmbeddings(8)).embed_texts([text])[0] for text in texts]
        assert vectors.tolist() == [vector.tolist() for vector in alone]

    def test_batches_hold_texts_of_like_length_and_are_reported(self):
        fake, done = FakeEmbeddings(8), []
        texts = ["four", "a", "three", "bb", "c"]
        embedder_of(fake, batch_size=2).embed_texts(texts, done.append)
        assert fake.calls == [["a", "c"], ["bb", "four"], ["three"]]
        assert done == [2, 2, 1]


class TestAnswersThatCannotBeUsed:
    @pytest.mark.parametrize("wrong", [[], [[1.0], [2.0]], [[]], [1.0], None])
    def test_are_an_error_and_never_a_vector_when_they_stay_so(self, wrong):
        fake = FakeEmbeddings(8, fail_with=[lambda right: wrong] * 2)  # the text, then the probe
        with pytest.raises(EmbeddingError, match="Fake/words returned"):
            embedder_of(fake).embed_texts(["a"])

    @pytest.mark.parametrize("wrong", [[], [[1.0]], None, [0.0, 0.0], [1.0, float("nan")]])
    def test_for_a_query_are_an_error_too(self, wrong):
        fake = FakeEmbeddings()
        fake.embed_query = lambda text: wrong
        with pytest.raises(EmbeddingError, match="Fake/words returned"):
            embedder_of(fake).embed_query("a")

    def test_a_short_answer_is_never_spread_over_the_texts(self):
        fake = FakeEmbeddings(8, fail_with=[lambda right: right[:1]])
        texts = ["one", "two", "three"]
        vectors = embedder_of(fake).embed_texts(texts)
        assert vectors.tolist() == embedder_of(FakeEmbeddings(8)).embed_texts(texts).tolist()
        assert fake.calls == [["one", "two", "three"], [PROBE], ["one"], ["two", "three"]]

    @pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf"), float("-inf")])
    def test_a_vector_without_direction_costs_only_its_own_text(self, bad):
        fake = FakeEmbeddings(fail_with=[lambda right: [right[0], [bad] * 8, right[2]]], size=8)
        texts = ["a", "secret", "another"]
        vectors, errors = embedder_of(fake).embed_salvaging(texts)
        assert list(errors) == [1]
        assert "text 1" in str(errors[1])
        assert "6 characters" in str(errors[1])
        assert "secret" not in str(errors[1])
        assert not errors[1].retryable
        assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 0.0, 1.0])
        assert len(fake.calls) == 1

    def test_another_dimension_than_before_is_an_error(self):
        narrower = [lambda right: [v[:4] for v in right]]
        fake = FakeEmbeddings(8, fail_with=[None, *narrower * 2])
        embedder = embedder_of(fake)
        embedder.embed_texts(["a"])
        with pytest.raises(EmbeddingError, match="4 numbers, and 8 before"):
            embedder.embed_texts(["b"])

    @pytest.mark.parametrize("blank", ["", "  \n\t"])
    def test_blank_texts_are_refused_unasked(self, blank):
        fake = FakeEmbeddings(8)
        embedder = embedder_of(fake)
        with pytest.raises(EmbeddingError, match="text 1, which is blank"):
            embedder.embed_texts(["a", blank])
        with pytest.raises(EmbeddingError, match="blank query"):
            embedder.embed_query(blank)
        assert blank not in fake.texts


class TestRetry:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
    def test_waits_longer_each_time(self, status):
        waits = []
        fake = FakeEmbeddings(8, fail_with=[ProviderError(status)] * 3)
        embedder_of(fake, waits).embed_texts(["a"])
        assert waits == [0.5, 1.0, 2.0]

    def test_has_a_longest_wait(self):
        waits = []
        fake = FakeEmbeddings(8, fail_with=[TimeoutError()] * 6)
        embedder_of(fake, waits, attempts=7).embed_query("a")
        assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]

    @pytest.mark.parametrize(
        "error",
        [ConnectionResetError(), TimeoutError(), type("ReadTimeout", (TimeoutError,), {})()],
    )
    def test_finds_the_cause_behind_other_exceptions(self, error):
        hidden, hidden_twice = ValueError("wrapped"), RuntimeError("wrapped again")
        hidden.__context__, hidden_twice.__cause__ = error, hidden
        fake = FakeEmbeddings(8, fail_with=[hidden_twice])
        embedder_of(fake).embed_texts(["a"])
        assert len(fake.calls) == 2

    @pytest.mark.parametrize("status", [401, 403, 404])
    def test_is_not_made_where_nothing_will_change(self, status):
        waits = []
        fake = FakeEmbeddings(8, fail_with=[ProviderError(status)])
        with pytest.raises(EmbeddingError, match=f"status {status}") as caught:
            embedder_of(fake, waits).embed_texts(["a", "b", "c"])
        assert (waits, len(fake.calls), caught.value.retryable) == ([], 1, False)

    def test_ends_after_the_attempts_with_a_retryable_error(self):
        last = ProviderError(503)
        fake = FakeEmbeddings(8, fail_with=[ProviderError(503), last])
        with pytest.raises(EmbeddingError, match="could not embed 1 text after 2 tries") as caught:
            embedder_of(fake, attempts=2).embed_texts(["a"])
        assert caught.value.retryable
        assert caught.value.__cause__ is last

    def test_does_as_the_provider_asks(self):
        waits = []
        fake = FakeEmbeddings(8, fail_with=[ProviderError(429, {"Retry-After": "7"})])
        embedder_of(fake, waits).embed_texts(["a"])
        assert waits == [7.0]

    def test_understands_a_date_by_the_date_of_the_answer(self):
        now, waits = datetime(2001, 2, 3, tzinfo=UTC), []
        headers = {
            "date": format_datetime(now, usegmt=True),
            "retry-after": format_datetime(now + timedelta(seconds=9), usegmt=True),
        }
        fake = FakeEmbeddings(8, fail_with=[ProviderError(429, headers)])
        embedder_of(fake, waits).embed_texts(["a"])
        assert waits == [9.0]

    @pytest.mark.parametrize("value", ["soon", "-3", "nan", "Sat, 03 Feb 2001 00:00:09 GMT"])
    def test_backs_off_as_usual_when_the_wish_makes_no_sense(self, value):
        waits = []
        fake = FakeEmbeddings(8, fail_with=[ProviderError(429, {"retry-after": value})])
        embedder_of(fake, waits).embed_texts(["a"])
        assert waits == [0.5]

    def test_never_waits_beyond_the_deadline(self):
        waits = []
        fake = FakeEmbeddings(8, fail_with=[ProviderError(429, {"retry-after": "3600"})])
        with pytest.raises(EmbeddingError) as caught:
            embedder_of(fake, waits).embed_texts(["a"])
        assert (waits, caught.value.retryable) == ([], True)

    def test_the_deadline_counts_the_time_calls_take(self):
        clock = iter([0.0, 60.0, 119.8])  # started, after the first call, after the second
        fake = FakeEmbeddings(8, fail_with=[ProviderError(502)] * 3)
        waits = []
        with pytest.raises(EmbeddingError):
            embedder_of(fake, waits, monotonic=lambda: next(clock)).embed_texts(["a"])
        assert waits == [0.5]


class TestHalving:
    @given(st.integers(1, 40), st.data())
    def test_finds_exactly_the_bad_texts_in_few_calls(self, count, data):
        texts = [f"text {i}" for i in range(count)]
        bad = data.draw(st.sets(st.integers(0, count - 1), max_size=3))
        fake = Refusing(*[texts[i] for i in bad])
        vectors, errors = embedder_of(fake).embed_salvaging(texts)
        assert set(errors) == bad
        assert [bool(v.any()) for v in vectors] == [i not in bad for i in range(count)]
        depth = count.bit_length() + 1
        assert len(fake.calls) <= 2 + 2 * depth * len(bad)

    def test_embed_texts_raises_the_error_of_the_first_bad_text(self):
        embedder = embedder_of(Refusing("bad", "worse"))
        _, errors = embedder.embed_salvaging(["ok", "worse", "bad"])
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed_texts(["ok", "worse", "bad"])
        assert str(caught.value) == str(errors[1])

    def test_a_text_the_server_chokes_on_costs_only_itself_and_may_be_tried_again(self):
        fake = Refusing("bad", status=500)
        _, errors = embedder_of(fake, attempts=2).embed_salvaging(["a", "bad", "c", "d"])
        assert list(errors) == [1]
        assert errors[1].retryable

    def test_stops_when_even_the_probe_is_refused(self):
        fake = Refusing(PROBE, "a", "b", "c", "d")
        _, errors = embedder_of(fake, batch_size=2).embed_salvaging(["a", "b", "c", "d"])
        assert len(errors) == 4
        assert fake.calls == [["a", "b"], [PROBE]]

    @pytest.mark.parametrize(
        "nonsense",
        [
            lambda vectors: [],
            lambda vectors: [[math.nan] * 8 for _ in vectors],
            lambda vectors: [[0.0] * 8 for _ in vectors],
            ValueError("a bug of the client"),
        ],
        ids=["no vectors", "not finite", "zeros", "client"],
    )
    @pytest.mark.parametrize("texts", [["a"], ["a", "bb"]], ids=["one text", "two texts"])
    def test_an_embedder_that_answers_nothing_at_all_blames_no_text(self, nonsense, texts):
        fake = FakeEmbeddings(8, fail_with=[None, *[nonsense] * 9])
        embedder = embedder_of(fake)
        embedder.probe()
        vectors, errors = embedder.embed_salvaging(texts)
        assert len(errors) == len(texts)
        assert not vectors.any()
        assert not any(error.text_at_fault for error in errors.values())
        assert len(fake.calls) == 3  # the first probe, the texts, and a probe whether it is they

    def test_a_text_alone_without_a_vector_is_to_blame(self):
        fake = FakeEmbeddings(8, fail_with=[lambda vectors: [[0.0] * 8 for _ in vectors]])
        _, errors = embedder_of(fake).embed_salvaging(["a"])
        assert errors[0].text_at_fault
        _, errors = embedder_of(Refusing("bad")).embed_salvaging(["ok", "bad"])
        assert errors[1].text_at_fault

    def test_an_outage_keeps_what_was_embedded_and_asks_no_more(self):
        fake = FakeEmbeddings(8, fail_with=[None, *[ProviderError(503)] * 2])
        done = []
        embedder = embedder_of(fake, batch_size=2, attempts=2)
        vectors, errors = embedder.embed_salvaging(["a", "b", "cc", "dd", "eee"], done.append)
        assert [bool(v.any()) for v in vectors] == [True, True, False, False, False]
        assert list(errors) == [2, 3, 4]
        assert all(error.retryable for error in errors.values())
        assert (len(fake.calls), done) == (3, [2])

    def test_an_embedder_that_cannot_work_is_no_fault_of_a_text(self):
        missing = MissingDependencyError("x", extra="y", needed_for="z")
        with pytest.raises(MissingDependencyError):
            embedder_of(FakeEmbeddings(fail_with=[missing])).embed_salvaging(["a"])


class TestMessages:
    def test_tell_neither_the_key_nor_the_texts(self):
        quoting = ProviderError(400, message="key sk-123 sent: my secret")
        fake = FakeEmbeddings(8, fail_with=[quoting] * 2)
        with pytest.raises(EmbeddingError) as caught:
            embedder_of(fake).embed_texts(["my secret"])
        assert "sk-123" not in str(caught.value)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "error", "told"),
        [
            ("OpenAIEmbeddings/m", ProviderError(401), "API key in OPENAI_API_KEY"),
            ("GoogleGenerativeAIEmbeddings/m", ProviderError(403), "key in GOOGLE_API_KEY"),
            ("MyEmbeddings", ProviderError(401), "API key or credentials"),
            ("OllamaEmbeddings/m:v1", ProviderError(404), "`ollama pull m:v1`"),
            ("OpenAIEmbeddings/m", ProviderError(404), "Check the model's name"),
            ("OpenAIEmbeddings/m", ProviderError(429), "try later, or in smaller batches"),
            ("OpenAIEmbeddings/m", ProviderError(413), "limits for the length"),
            ("OpenAIEmbeddings/m", ProviderError(500), "try later"),
            ("MyEmbeddings", ConnectionRefusedError(), "base URL http://host:1/v1."),
            ("OllamaEmbeddings/m", ConnectionError(), "Is Ollama running at http://host:1/v1?"),
            ("MyEmbeddings", KeyError("x"), "its own error is the cause"),
        ],
    )
    def test_say_what_to_do(self, name, error, told):
        fake = FakeEmbeddings(8, fail_with=[error] * 4)
        fake.base_url = "http://user:password@host:1/v1?key=x"
        with pytest.raises(EmbeddingError) as caught:
            embedder_of(fake, name=name).embed_query("a")
        assert told in str(caught.value)
        assert "password" not in str(caught.value)


class TestQueries:
    def test_have_the_direction_of_what_embed_query_returns(self):
        fake = FakeEmbeddings()
        fake.embed_query = lambda text: [0.0, 5.0]
        assert embedder_of(fake).embed_query("a").tolist() == [0.0, 1.0]

    def test_are_remembered_and_cannot_be_written_to(self):
        fake = FakeEmbeddings(8)
        embedder = embedder_of(fake)
        first = embedder.embed_query("a")
        assert embedder.embed_query("a") is first
        assert len(fake.calls) == 1
        with pytest.raises(ValueError, match="read-only"):
            first[0] = 1.0

    def test_the_least_recently_asked_of_more_than_1024_is_forgotten(self):
        fake = FakeEmbeddings(8)
        embedder = embedder_of(fake)
        for i in range(1024):
            embedder.embed_query(f"q{i}")
        embedder.embed_query("q0")
        embedder.embed_query("one more")  # q1 goes
        assert len(fake.calls) == 1025
        embedder.embed_query("q0")
        assert len(fake.calls) == 1025
        embedder.embed_query("q1")
        assert len(fake.calls) == 1026

    def test_a_failure_is_not_remembered(self):
        fake = FakeEmbeddings(8, fail_with=[ProviderError(401)])
        embedder = embedder_of(fake)
        with pytest.raises(EmbeddingError):
            embedder.embed_query("a")
        assert embedder.embed_query("a").shape == (8,)


class TestIdentity:
    def test_is_name_and_dimension_found_with_one_call(self):
        fake = FakeEmbeddings(8)
        embedder = embedder_of(fake)
        assert (embedder.dimension, embedder.identity) == (8, "Fake/words/8")
        assert embedder.probe() == pytest.approx(unit(*FakeEmbeddings(8)._vector(PROBE)))
        assert fake.calls == [[PROBE]]


def test_importing_the_wrapper_loads_no_model_and_no_provider():
    heavy = ("wordllama", "onnxruntime", "tokenizers", "openai", "langchain_core", "ollama")
    with patch.dict(sys.modules):
        for module in [m for m in sys.modules if m.startswith("langchain_memengine")]:
            del sys.modules[module]
        sys.modules.update(dict.fromkeys(heavy))  # importing them now raises ImportError
        for module in ("embedding", "providers"):
            import_module(f"langchain_memengine.models.{module}")
