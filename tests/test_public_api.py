"""The names the package promises."""

import importlib
import inspect

import pytest

import langchain_memengine


def test_names_are_sorted_and_resolve():
    names = langchain_memengine.__all__
    constants = [name for name in names if name.isupper()]
    others = [name for name in names if not name.isupper()]
    assert names == sorted(constants) + sorted(others)
    assert len(set(names)) == len(names)
    for name in names:
        assert getattr(langchain_memengine, name) is not None


@pytest.mark.parametrize("name", langchain_memengine.__all__)
def test_public_name_is_the_one_of_its_module_and_is_documented(name):
    value = getattr(langchain_memengine, name)
    home = importlib.import_module(f"langchain_memengine.{langchain_memengine._HOMES[name]}")
    assert getattr(home, name) is value
    if inspect.isclass(value):
        assert inspect.getdoc(value)


def test_dir_lists_the_public_names_and_others_are_refused():
    assert dir(langchain_memengine) == sorted(langchain_memengine.__all__)
    with pytest.raises(AttributeError, match="'Nonsense'"):
        langchain_memengine.Nonsense  # noqa: B018  # looking it up is the test


def test_package_explains_itself():
    assert "engine" in langchain_memengine.__doc__


def test_every_public_method_of_the_engine_is_documented():
    for name, member in inspect.getmembers(langchain_memengine.MemoryEngine):
        if not name.startswith("_") and callable(member):
            assert inspect.getdoc(member), name
