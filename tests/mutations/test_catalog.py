"""Every mutation still applies: the code it changes is there, once."""

from __future__ import annotations

from collections import Counter

from tests.mutations.catalog import ROOT, mutations


def test_what_a_mutation_replaces_is_there_once():
    found = {one.why: (ROOT / one.file).read_text().count(one.old) for one in mutations()}
    assert {why: count for why, count in found.items() if count != 1} == {}


def test_there_are_a_hundred_mutations_each_with_tests_that_exist():
    listed = mutations()
    assert len(listed) >= 100
    assert [key for key, count in Counter(one.key for one in listed).items() if count > 1] == []
    assert [one.why for one in listed if one.old == one.new or not one.tests] == []
    assert {test for one in listed for test in one.tests if not (ROOT / test).exists()} == set()
