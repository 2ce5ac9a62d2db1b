"""Every error says what happened and can be caught as what it is."""

import inspect
import pickle

import pytest

from langchain_memengine import errors
from langchain_memengine.workspace.files import UnreadableFileError

CLASSES = [
    member
    for _, member in inspect.getmembers(errors, inspect.isclass)
    if issubclass(member, Exception)
]


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_is_one_of_the_package_and_stands_in_the_tree(error):
    assert issubclass(error, errors.MemEngineError)
    assert error.__name__ in errors.__doc__
    assert inspect.getdoc(error)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.ConfigurationError, ValueError),
        (errors.MissingDependencyError, ImportError),
        (errors.NotFoundError, KeyError),
        (errors.ScopeError, PermissionError),
    ],
)
def test_errors_are_also_what_python_would_raise(error, builtin):
    assert issubclass(error, builtin)


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (errors.SchemaVersionError, errors.StorageError),
        (errors.NotFoundError, errors.StorageError),
        (errors.UnknownCommitError, errors.StorageError),
        (errors.StoreBusyError, errors.StorageError),
        (errors.StoreUnreachableError, errors.StorageError),
        (errors.StoreLockedError, errors.StorageError),
        (errors.StorageFullError, errors.StorageError),
        (errors.EmbeddingModelChangedError, errors.EmbeddingError),
        (errors.UnknownJobKindError, errors.JobError),
        (errors.ExtractionError, errors.ChatModelError),
    ],
)
def test_errors_of_one_kind_are_caught_together(child, parent):
    assert issubclass(child, parent)


def test_missing_dependency_names_package_extra_and_command():
    error = errors.MissingDependencyError("onnxruntime", extra="minilm", needed_for="local:minilm")
    assert (error.package, error.extra) == ("onnxruntime", "minilm")
    assert str(error) == (
        "local:minilm needs the package 'onnxruntime', which is not installed. "
        "Run: pip install 'langchain-memengine[minilm]'"
    )


def test_schema_version_names_the_unknown_migrations():
    error = errors.SchemaVersionError(["m008", "m009"])
    assert error.unknown == ["m008", "m009"]
    assert "m008, m009" in str(error)


def test_unknown_commit_names_commit_and_thread():
    error = errors.UnknownCommitError("c1", "t")
    assert (error.commit_id, error.thread_id) == ("c1", "t")
    assert "'c1', which is no memory commit of the thread 't'" in str(error)
    assert "no memory commit in this store" in str(errors.UnknownCommitError("c1"))


def test_not_found_shows_its_message_without_quotes():
    assert str(errors.NotFoundError("There is no 'x'.")) == "There is no 'x'."
    assert str(errors.NotFoundError()) == ""


def test_embedding_error_knows_whether_to_try_again():
    assert errors.EmbeddingError("x").retryable is False
    assert errors.EmbeddingError("x", retryable=True).retryable is True


def test_changed_model_names_both_and_the_way_out():
    error = errors.EmbeddingModelChangedError(stored="a/1", current="b/2")
    assert (error.stored, error.current, error.retryable) == ("a/1", "b/2", False)
    for part in ("'a/1'", "'b/2'", "engine.reembed()", "memengine sync --reembed"):
        assert part in str(error)


def test_unknown_job_kind_names_those_there_are():
    error = errors.UnknownJobKindError("embbed", ["embed", "graph_sync"])
    assert (error.kind, error.known) == ("embbed", ("embed", "graph_sync"))
    assert str(error) == "There are no jobs of kind 'embbed'. Use one of: embed, graph_sync."


@pytest.mark.parametrize(
    "error",
    [
        errors.ConfigurationError("x"),
        errors.MissingDependencyError("p", extra="e", needed_for="n"),
        errors.SchemaVersionError(["m008"]),
        errors.NotFoundError("x"),
        errors.UnknownCommitError("c", "t"),
        errors.ScopeError("x"),
        errors.ChatModelError("x", retryable=True),
        errors.EmbeddingError("x", text_at_fault=True),
        errors.EmbeddingModelChangedError(stored="a", current="b"),
        errors.UnknownJobKindError("k", ["embed"]),
        UnreadableFileError("a.md", "binary", gone=True),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_from_one_process_to_another(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
