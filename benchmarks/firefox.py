"""Firefox for the browser tests, driven by Selenium without geckodriver, which not every system has.

Firefox itself speaks Marionette: JSON over a socket, with the commands of WebDriver under other names. This
is the part of geckodriver that hands them over.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any

from selenium import webdriver
from selenium.webdriver.remote.command import Command

if TYPE_CHECKING:
    from pathlib import Path

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
STARTING = 300  # seconds in which it must open its socket
SETTINGS = {
    "marionette.port": 0,  # any that is free
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.update.enabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",  # it loads nothing from the network
    "accessibility.tabfocus": 7,  # Tab reaches links, as on most systems
}
NAMES = {
    Command.NEW_SESSION: "WebDriver:NewSession",
    Command.GET: "WebDriver:Navigate",
    Command.GO_BACK: "WebDriver:Back",
    Command.FIND_ELEMENTS: "WebDriver:FindElements",
    Command.CLICK_ELEMENT: "WebDriver:ElementClick",
    Command.GET_ELEMENT_TEXT: "WebDriver:GetElementText",
    Command.SEND_KEYS_TO_ELEMENT: "WebDriver:ElementSendKeys",
    Command.W3C_EXECUTE_SCRIPT: "WebDriver:ExecuteScript",
    Command.W3C_EXECUTE_SCRIPT_ASYNC: "WebDriver:ExecuteAsyncScript",
    Command.W3C_ACTIONS: "WebDriver:PerformActions",
    Command.SCREENSHOT: "WebDriver:TakeScreenshot",
    Command.SET_TIMEOUTS: "WebDriver:SetTimeouts",
    Command.SET_WINDOW_RECT: "WebDriver:SetWindowRect",
    "Marionette:SetContext": "Marionette:SetContext",
    Command.QUIT: "Marionette:Quit",
}
# What the page may use of the window, which has a least width of its own; and the colours that it asks for.
LOOK = """
const [width, height, dark] = arguments;
const browser = gBrowser.selectedBrowser;
browser.style.minWidth = browser.style.minHeight = "0";
browser.style.maxWidth = `${width}px`;
browser.style.maxHeight = `${height}px`;
Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", dark ? 0 : 1);
"""
COMPLAINTS = """
const found = Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError
  && !(one.flags & Ci.nsIScriptError.warningFlag) && one.sourceName.startsWith("http"));
Services.console.reset();
return found.map((one) => one.errorMessage);
"""


class NotStartedError(RuntimeError):
    """Firefox is there, but not its socket."""


class Marionette:
    """Hands the commands of Selenium over to Firefox."""

    def __init__(self, folder: Path) -> None:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in SETTINGS.items())
        (folder / "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [
            str(FIREFOX),
            "--headless",
            "--marionette",
            "--remote-allow-system-access",
            "--no-remote",
            "--profile",
            str(folder),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket = socket.create_connection(("127.0.0.1", self._port(folder)))
        self._file = self._socket.makefile("rb")
        self._read()
        self._n_sent = 0

    def _port(self, folder: Path) -> int:
        """Wait for the file that names the port."""
        end = time.monotonic() + STARTING
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError, ValueError):
                return int((folder / "MarionetteActivePort").read_text(encoding="ascii"))
            time.sleep(0.05)
        self._process.kill()
        raise NotStartedError(f"{FIREFOX} does not start")

    def _read(self) -> Any:
        """Read a message: its length, a colon, JSON."""
        length = b""
        while (byte := self._file.read(1)) not in (b":", b""):
            length += byte
        return json.loads(self._file.read(int(length)))

    def execute(self, command: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Do a command; the answer is as Selenium has it."""
        given = {name: value for name, value in parameters.items() if name != "sessionId"}
        if command == Command.NEW_SESSION:
            given = {}
        if command == Command.QUIT:
            given = {"flags": ["eForceQuit"]}
        self._n_sent += 1
        message = json.dumps([0, self._n_sent, NAMES[command], given]).encode()
        self._socket.sendall(f"{len(message)}:".encode() + message)
        _, _, error, value = self._read()
        if command == Command.QUIT:
            self._file.close()
            self._socket.close()
            self._process.wait()
        if error is not None:
            return {"status": 500, "value": json.dumps({"value": error})}
        return {"value": value["value"] if isinstance(value, dict) and set(value) == {"value"} else value}

    def close(self) -> None:
        """End nothing more: Firefox ends with its session."""


class Firefox(webdriver.Remote):
    """A Firefox with its files in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Marionette(folder), options=webdriver.FirefoxOptions())  # type: ignore[arg-type]
        self.look(1200, 900, dark=False)

    def in_chrome(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the browser's own window, not in the page."""
        self.execute("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.execute_script(script, *arguments)
        finally:
            self.execute("Marionette:SetContext", {"value": "content"})

    def look(self, width: int, height: int, *, dark: bool) -> None:
        """Choose the size of the page, and light or dark."""
        self.set_window_rect(0, 0, width + 100, height + 200)
        self.in_chrome(LOOK, width, height, dark)

    def get_log(self, _: str) -> list[dict[str, str]]:
        """List the errors that pages have made since the last look, as Chromium does."""
        return [{"level": "SEVERE", "message": text} for text in self.in_chrome(COMPLAINTS)]
