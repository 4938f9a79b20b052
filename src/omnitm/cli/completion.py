"""`omnitm --completion SHELL`: a script that completes commands and options, made from their parsers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

Options = Mapping[str, list[tuple[str, str]]]  # per command: names of its options, and what they do

_BASH = """\
_omnitm() {
    local current=${COMP_WORDS[COMP_CWORD]} words
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
CASES
        *) words="COMMANDS" ;;
    esac
    if [[ $COMP_CWORD == 1 || $current == -* || " GROUPS " == *" ${COMP_WORDS[COMP_CWORD - 1]} "* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    fi
}
complete -o default -F _omnitm omnitm
"""


def script(shell: str, summaries: Mapping[str, str], options: Options) -> str:
    """Write the script of a shell.

    Parameters
    ----------
    summaries
        All commands and what they do; `evaluate similarity` belongs to the group `evaluate`.
    """
    if shell == "fish":
        return _fish(summaries, options)
    text = _bash(summaries, options)
    return text if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{text}"


def _bash(summaries: Mapping[str, str], options: Options) -> str:
    groups = {name.split()[0] for name in summaries if " " in name}
    cases = []
    for name in sorted(summaries, key=lambda name: (-name.count(" "), name)):
        members = [other.split()[1] for other in summaries if other.startswith(f"{name} ")]
        words = " ".join([*members, *(option for option, _ in options[name])])
        pattern = f'"{name}"' if " " in name else f'"{name} "*'
        cases.append(f'        {pattern}) words="{words}" ;;')
    commands = " ".join(name for name in summaries if " " not in name)
    text = _BASH.replace("CASES", "\n".join(cases)).replace("COMMANDS", commands)
    return text.replace("GROUPS", " ".join(sorted(groups)))


def _fish(summaries: Mapping[str, str], options: Options) -> str:
    lines = []
    for name, summary in summaries.items():
        group, _, last = name.rpartition(" ")
        when = f"__fish_seen_subcommand_from {group}" if group else "__fish_use_subcommand"
        lines.append(f"complete -c omnitm -f -n '{when}' -a {last} -d {shlex.quote(summary)}")
        for option, text in options[name]:
            kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            when = f"__fish_seen_subcommand_from {last}"
            lines.append(f"complete -c omnitm -n '{when}' {kind} -d {shlex.quote(text)}")
    return "\n".join(lines) + "\n"
