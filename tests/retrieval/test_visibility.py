"""Who may read and write what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ScopeError
from langchain_memengine.retrieval.visibility import (
    default_scope,
    owner_of,
    readable_partitions,
    require_write,
    thread_owner,
    thread_partition,
)
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import (
    LOCAL_ADMIN,
    Actor,
)
from langchain_memengine.workspace.layout import folder_owner, slug

ANNA = Actor("anna")
ADMIN = Actor("root", is_admin=True)

# scope, whose, then whether Anna may read it, an admin may read it, Anna may write it, an admin may
POLICY = [
    ("global", "", True, True, False, True),
    ("agent_notes", "", True, True, False, False),
    ("agent_config", "", False, True, False, True),
    ("wiki", "", False, False, False, False),
    ("db_cache", "", False, False, False, False),
]


@pytest.mark.parametrize(("scope", "owner", "anna", "admin", "_anna", "_admin"), POLICY)
def test_reading_follows_the_policy(scope, owner, anna, admin, _anna, _admin):
    key = partition_key(scope, owner)
    assert (key in readable_partitions(ANNA)) is anna
    assert (key in readable_partitions(ADMIN)) is admin


@pytest.mark.parametrize(("scope", "_owner", "_anna", "_admin", "anna", "admin"), POLICY)
def test_writing_follows_the_policy(scope, _owner, _anna, _admin, anna, admin):
    for actor, allowed in ((ANNA, anna), (ADMIN, admin)):
        if allowed:
            require_write(scope, actor)
        else:
            with pytest.raises(ScopeError, match=scope):
                require_write(scope, actor)


@pytest.mark.parametrize("actor", [ANNA, ADMIN, LOCAL_ADMIN])
def test_personal_memory_is_its_owners_alone(actor):
    require_write("personal", actor)
    personal = [key for key in readable_partitions(actor) if key.startswith("personal/")]
    assert personal == [f"personal/{slug(actor.user_id)}"]
    assert owner_of("personal", actor) == slug(actor.user_id)


def test_users_whose_names_look_alike_in_a_path_are_apart():
    names = ["anna", "Anna", "anna/../bert", "ann a", "ánna", "../anna"]
    owners = {owner_of("personal", Actor(name)) for name in names}
    assert len(owners) == len(names)
    assert not any("/" in owner for owner in owners)


def test_what_is_nobodys_has_no_owner():
    assert {owner_of(scope, ANNA) for scope, *_ in POLICY} == {""}


def test_only_an_admins_texts_go_to_everyone_by_default():
    assert default_scope(ANNA) == "personal"
    assert default_scope(LOCAL_ADMIN) == "global"


def test_the_error_tells_a_user_what_to_do():
    with pytest.raises(ScopeError, match=r"'anna' may not write .* Use the scope 'personal'"):
        require_write("global", ANNA)


@given(st.text(), st.text())
def test_no_user_is_a_thread_and_no_thread_another(name, thread):
    assert thread_partition(thread) not in readable_partitions(Actor(name, is_admin=True))
    assert thread_partition(thread) not in readable_partitions(Actor(thread_owner(thread)))
    assert folder_owner(thread_owner(thread)) != thread_owner(thread)
    assert (thread_owner(name) == thread_owner(thread)) is (clean_text(name) == clean_text(thread))
