"""Products stay on one thread, whichever thread asks for them."""

from threading import Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from langchain_memengine.retrieval.blas_threads import OneBlasThread
from langchain_memengine.retrieval.fusion import diversify


def threads():
    """Return how many threads the process's products may use."""
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def in_another_thread(work):
    thread = Thread(target=work)
    thread.start()
    thread.join()


def test_the_last_thread_inside_puts_back_the_process_s_blas_threads():
    limit = OneBlasThread()
    limit.__enter__()
    limit.__enter__()  # another thread, while the first is inside
    assert threads() == {1}
    limit.__exit__()
    assert threads() == {1}
    limit.__exit__()
    assert threads() == {2}


def test_the_limit_holds_in_a_thread_that_is_not_the_first_to_set_one():
    seen = []

    def work():
        with limit:
            seen.append(threads())
        seen.append(threads())

    limit = OneBlasThread()
    with limit:
        assert threads() == {1}
    in_another_thread(work)
    assert seen == [{1}, {2}]


def test_another_thread_than_the_first_may_be_the_last_to_leave():
    limit = OneBlasThread()
    limit.__enter__()
    limit.__enter__()
    limit.__exit__()
    in_another_thread(limit.__exit__)
    assert threads() == {2}


def test_the_application_may_set_limits_of_its_own_afterwards_in_any_thread():
    with OneBlasThread():
        pass
    seen = []

    def work():
        with threadpool_limits(1, user_api="blas"):
            seen.append(threads())

    in_another_thread(work)
    assert seen == [{1}]


def test_hits_are_made_diverse_on_one_thread():
    """The product is a real one; the array only tells how many threads it may use."""
    seen = []

    class Telling(np.ndarray):
        def __matmul__(self, other):
            seen.append(threads())
            return np.asarray(self) @ np.asarray(other)

    vectors = np.eye(3, dtype=np.float32).view(Telling)
    order = diversify(np.arange(3), np.asarray([3.0, 2.0, 1.0]), vectors, 3, relevance=0.5)
    assert order.tolist() == [0, 1, 2]
    assert seen == [{1}] * 3
    assert threads() == {2}
