"""A holder that is no more can be told from one that lives."""

import os
import subprocess
import sys

from callgate.gate._holder import is_dead, new_holder


def test_this_process_lives() -> None:
    assert not is_dead(new_holder())


def test_two_gates_of_one_process_are_two_holders() -> None:
    assert new_holder() != new_holder()


def test_a_process_that_ended_is_dead() -> None:
    code = "from callgate.gate._holder import new_holder; print(new_holder())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert is_dead(told.strip())


def test_a_number_that_was_given_again_is_another_process() -> None:
    host, process, _, count = new_holder().split("/")
    assert process == str(os.getpid())
    assert is_dead(f"{host}/{process}/1/{count}")


def test_nothing_is_known_of_another_host_or_another_form() -> None:
    assert not is_dead("elsewhere.example/1/2/3")
    assert not is_dead("")
    assert not is_dead("somebody")
