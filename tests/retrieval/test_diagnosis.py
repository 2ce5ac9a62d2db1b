"""How checks are made, repaired and made again."""

import pytest

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval.diagnosis import Check, DoctorReport, Finding, examine


class Patient:
    def __init__(self, *, cure=True):
        self.ill = True
        self._cure = cure

    def look(self):
        if not self.ill:
            return Finding("ok", "well")
        return Finding("failed", "ill", "cure it", self.mend)

    def mend(self):
        self.ill = not self._cure


def test_nothing_is_mended_unasked():
    patient = Patient()
    report = examine({"a": patient.look}, repair=False)
    assert report.checks == (Check("a", "failed", "ill", "cure it"),)
    assert patient.ill
    assert not report.ok


def test_what_was_mended_is_examined_again():
    report = examine({"a": Patient().look, "b": Patient(cure=False).look}, repair=True)
    assert report["a"] == Check("a", "ok", "well", "", repaired=True)
    assert report["b"] == Check("b", "failed", "ill", "cure it", repaired=True)


def test_examination_that_fails_is_a_failed_check_and_the_others_go_on():
    def broken():
        raise StorageError("the disk is gone")

    report = examine({"a": broken, "b": Patient().look}, repair=True)
    assert report["a"] == Check("a", "failed", "the disk is gone")
    assert report["b"].status == "ok"


def test_warnings_alone_are_fine():
    assert DoctorReport((Check("a", "warning", "slow"), Check("b", "ok", "well"))).ok


def test_a_check_that_was_not_made_is_a_key_that_is_missing():
    with pytest.raises(KeyError, match="lock"):
        DoctorReport((Check("a", "ok", "well"),))["lock"]
