"""Chromium, driven through chromedriver: what a page shows, and what a person types."""

import base64
import re
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
from tests.service.served import until

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")


class Browser:
    """A browser with one window, and a profile of its own."""

    def __init__(self, profile: Path, *, width: int = 1000, dark: bool = False) -> None:
        """Starts nothing.

        Args:
            profile: A folder that does not exist yet.
            width: Of the window, in CSS pixels; its height is 900.
            dark: Whether the person prefers dark pages.
        """
        self._profile, self._width, self._dark = profile, width, dark
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Browser":
        assert DRIVER is not None
        self._process = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            self._begin(self._process)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        return self

    def _begin(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        found = None
        for line in process.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                break
        assert found is not None, "chromedriver tells its port"
        self._driver = httpx.Client(base_url=f"http://127.0.0.1:{found[1]}", timeout=60)
        words = (
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-sync"),
            *("--disable-background-networking", "--disable-component-update"),
            f"--user-data-dir={self._profile}",
        )
        chrome = {"binary": CHROMIUM, "args": words}
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": chrome}}}
        self._session = f"/session/{self._ask('POST', '/session', wanted)['sessionId']}"
        size = {"width": self._width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._tell("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self._dark else "light"}
        self._tell("Emulation.setEmulatedMedia", {"features": [scheme]})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        assert self._process is not None
        try:
            self._ask("DELETE", self._session)
        finally:
            self._driver.close()
            self._process.terminate()
            self._process.wait(30)
            assert self._process.stdout is not None
            self._process.stdout.close()

    def open(self, url: str) -> None:
        """Opens a page."""
        self._ask("POST", f"{self._session}/url", {"url": url})

    def run(self, script: str, *arguments: object) -> Any:  # noqa: ANN401
        """What a script returns that runs in the page."""
        body = {"script": script, "args": arguments}
        return self._ask("POST", f"{self._session}/execute/sync", body)

    def text(self, element: str) -> str:
        """The text of an element, by its id, as a person sees it; '' where it is hidden."""
        found: str = self.run("return document.getElementById(arguments[0]).innerText", element)
        return found if self.visible(element) else ""

    def visible(self, element: str) -> bool:
        """Whether a person can see an element, by its id."""
        script = "return document.getElementById(arguments[0]).checkVisibility()"
        return self.run(script, element) is True

    def until(self, element: str, pattern: str) -> str:
        """The text of an element, once it has something that matches."""
        found = [""]

        def shown() -> bool:
            found[0] = self.text(element)
            return re.search(pattern, found[0]) is not None

        try:
            until(shown, pattern, 30)
        except AssertionError as error:
            raise AssertionError(f"{element}: {found[0]!r}: {error}") from None
        return found[0]

    def type(self, element: str, text: str) -> None:
        """Types into an element, by its id."""
        body = {"using": "css selector", "value": f"#{element}"}
        found = self._ask("POST", f"{self._session}/element", body)
        (name,) = found.values()
        self._ask("POST", f"{self._session}/element/{name}/value", {"text": text})

    def screenshot(self) -> bytes:
        """The whole page as a PNG."""
        wanted = {"format": "png", "captureBeyondViewport": True}
        return base64.b64decode(self._tell("Page.captureScreenshot", wanted)["data"])

    def _tell(self, command: str, parameters: dict[str, object]) -> Any:  # noqa: ANN401
        body = {"cmd": command, "params": parameters}
        return self._ask("POST", f"{self._session}/goog/cdp/execute", body)

    def _ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
        content = None if method == "DELETE" else body or {}
        answer = self._driver.request(method, path, json=content).json()["value"]
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer
