"""`--log-level`: the library's messages on standard error, with every command, and only while it runs."""

import logging

import pytest
import typer

from breakeven.cli import failures, log_messages, main
from breakeven.cli.log_messages import MOST_A_SECOND, all_with_log_level, with_log_level
from breakeven.cli.program import program

LOGGER = logging.getLogger("breakeven")


def speak(loud: bool = False) -> None:
    """Say something at two levels."""
    LOGGER.getChild("test").info("loud" if loud else "quiet")
    LOGGER.getChild("test").warning("careful")


def run(joining, *words):
    return failures.run(typer.main.get_command(program(joining)), list(words))


def commands(command):
    """Every command that does something."""
    below = getattr(command, "commands", None)
    return [command] if below is None else [one for some in below.values() for one in commands(some)]


def test_every_command_has_the_option():
    for command in commands(typer.main.get_command(program())):
        assert command.hidden or "log_level" in [one.name for one in command.params], command.name


@pytest.mark.parametrize(("level", "lines"), [("info", 2), ("warning", 1), ("error", 0)])
def test_messages_of_the_level_and_above_go_to_standard_error(capsys, level, lines):
    assert run({"speak": speak}, "speak", "--log-level", level, "--loud") == 0
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", lines)
    assert ("INFO breakeven.test: loud\n" in err) is (lines == 2)


def test_without_the_option_nothing_is_written(capsys):
    assert run({"speak": speak}, "speak") == 0
    assert capsys.readouterr() == ("", "")


def test_commands_of_a_group_have_it_too_and_the_group_stays_as_it_is(capsys):
    group = typer.Typer()
    group.command("one")(speak)
    group.command("two")(speak)
    assert run({"group": group}, "group", "two", "--log-level", "warning") == 0
    assert "WARNING breakeven.test: careful\n" in capsys.readouterr().err
    assert [one.callback for one in group.registered_commands] == [speak, speak]
    assert all_with_log_level(group).registered_commands[0].callback is not speak


def test_afterwards_the_logger_is_as_before(capsys):
    before = (list(LOGGER.handlers), LOGGER.level)

    def fail() -> None:
        """Fail."""
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        with_log_level(fail)(log_level="debug")
    assert (LOGGER.handlers, LOGGER.level) == before


def test_an_unknown_level_is_refused_with_those_there_are(capsys):
    assert main(["demo", "--log-level", "loud"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "'loud' is not one of 'debug', 'info', 'warning', 'error'" in err


def test_the_shell_completes_commands(breakeven, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "breakeven sim")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setenv("_BREAKEVEN_COMPLETE", "complete_bash")
    assert breakeven().stdout == "simulate\n"


def test_a_message_cannot_pass_for_another(capsys):
    def speak() -> None:
        """Say what a stranger sent."""
        LOGGER.warning(
            "refused: %s", "x\n2026-01-01 00:00:00,000 ERROR breakeven: all is lost\r\x1b[2J\u2028é"
        )

    assert run({"speak": speak}, "speak", "--log-level", "warning") == 0
    first, second, end = capsys.readouterr().err.split("\n")
    assert first.endswith("refused: x")
    assert second == "    2026-01-01 00:00:00,000 ERROR breakeven: all is lost\\r\\x1b[2J\\u2028é"
    assert end == ""


def test_many_messages_of_a_kind_are_counted_and_not_written(monkeypatch, capsys):
    now = [1.0]
    monkeypatch.setattr("logging.time.time", lambda: now[0])

    def speak() -> None:
        """Say the same again and again."""
        for number in range(1_000):
            LOGGER.warning("refused %s", number)
            logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        LOGGER.warning("something else")
        now[0] = 3.0
        LOGGER.warning("refused %s", "later")

    assert run({"speak": speak}, "speak", "--log-level", "warning") == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 * MOST_A_SECOND + 2
    assert lines[-1].endswith("refused later (990 more of these were not written)")


def test_messages_that_name_another_object_each_time_are_of_one_kind(monkeypatch, capsys):
    monkeypatch.setattr("logging.time.time", lambda: 1.0)
    monkeypatch.setattr(log_messages, "MOST_KINDS", 5)

    def speak() -> None:
        """Say the same of many objects, then many things."""
        for number in range(100):
            logging.getLogger("asyncio").error(f"Fatal error\nprotocol: <{number}>")
        for number in range(20):
            LOGGER.warning(f"kind {number}")

    assert run({"speak": speak}, "speak", "--log-level", "warning") == 0
    lines = capsys.readouterr().err.splitlines()
    assert sum("Fatal error" in one for one in lines) == MOST_A_SECOND
    assert sum("kind" in one for one in lines) == 20
