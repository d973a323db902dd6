"""ops/package, with the binary that was tested: the archive is whole, the same each time, and what is in it fits the
binary. The bill of materials is held against the schema of CycloneDX by its own library."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
import unittest

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("HEADWATER_BIN", str(ROOT / "target/debug/headwater"))
# What a Debian slim image has.
LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def pack(out, **environment):
    command = [str(ROOT / "ops/package"), "--binary", BINARY, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


def tree(*arguments):
    """(name, version) of packages, as cargo resolves them for this machine."""
    host = re.search(r"^host: (.*)$", subprocess.run(["rustc", "-vV"], capture_output=True, text=True).stdout, re.M)[1]
    command = ["cargo", "tree", "--locked", "--target", host, "--prefix", "depth", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(re.findall(r"^\d+(\S+) v(\S+)", found.stdout, re.M))


def headwater(*arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER__")}
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, env={**clean, **environment})


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.archive = pack(cls.folder)
        with tarfile.open(cls.archive) as archive:
            cls.members = archive.getmembers()
            archive.extractall(cls.folder / "unpacked", filter="data")
        cls.root = next((cls.folder / "unpacked").iterdir())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_the_checksum_is_that_of_the_archive(self):
        said, name = pathlib.Path(f"{self.archive}.sha256").read_text().split()
        self.assertEqual(name, self.archive.name)
        self.assertEqual(said, hashlib.sha256(self.archive.read_bytes()).hexdigest())

    def test_the_same_binary_gives_the_same_bytes(self):
        again = pack(self.folder / "again", TZ="Asia/Tokyo", LC_ALL="C")
        self.assertEqual(again.read_bytes(), self.archive.read_bytes())

    def test_everything_an_operator_needs_is_in_it_and_belongs_to_root(self):
        for name in ["headwater", "README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT",
                     "THIRD-PARTY-LICENSES.txt", "bill-of-materials.cdx.json", "headwater.toml.example",
                     "docs/first-hour.md", "docs/operating.md", "ops/headwater.service", "ops/Containerfile",
                     "ops/prometheus/alerts.yml", "ops/grafana/headwater.json"]:
            self.assertTrue((self.root / name).is_file(), name)
        self.assertEqual(list((self.root / "data").iterdir()), [])
        names = [member.name for member in self.members]
        self.assertEqual(names, sorted(names, key=lambda name: name.split("/")))
        self.assertEqual(len({member.mtime for member in self.members}), 1)
        for member in self.members:
            self.assertEqual((member.uid, member.gid), (0, 0), member.name)
            is_program = member.name.endswith("/headwater") or member.isdir()
            self.assertEqual(member.mode, 0o755 if is_program else 0o644, member.name)

    def test_the_binary_is_stripped_runs_and_wants_only_what_the_container_has(self):
        binary = self.root / "headwater"
        version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(version.split()[1], self.archive.name)
        sections = subprocess.run(["readelf", "--sections", "--wide", binary], capture_output=True, text=True, check=True)
        self.assertNotIn(".debug_info", sections.stdout)
        self.assertNotIn(".symtab", sections.stdout)
        dynamic = subprocess.run(["readelf", "--dynamic", binary], capture_output=True, text=True, check=True)
        self.assertLessEqual(set(re.findall(r"NEEDED.*\[(.*)\]", dynamic.stdout)), LIBRARIES)
        wanted = subprocess.run(["readelf", "--version-info", binary], capture_output=True, text=True, check=True)
        newest = max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", wanted.stdout))
        named = re.search(r"glibc \(([\d.]+) or newer\)", (self.root / "ops/Containerfile").read_text())[1]
        self.assertLessEqual(newest, tuple(map(int, named.split("."))), "the container file says otherwise")

    def test_the_bill_is_valid_and_lists_what_is_in_the_binary(self):
        text = (self.root / "bill-of-materials.cdx.json").read_text()
        self.assertIsNone(JsonStrictValidator(SchemaVersion.V1_5).validate_str(text))
        bill = json.loads(text)
        required = {(it["name"], it["version"]) for it in bill["components"] if it["scope"] == "required"}
        everything = {(it["name"], it["version"]): it for it in bill["components"]}
        # The lock file knows more (tests, other systems); each entry here must be of it, with its checksum.
        locked = {(it["name"], it["version"]): it
                  for it in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}
        for key, entry in everything.items():
            checksum = locked[key].get("checksum")
            self.assertEqual([it["content"] for it in entry.get("hashes", [])], [checksum] if checksum else [], key)
            self.assertTrue("licenses" in entry, key)
        resolved = tree("-p", "headwater", "-e", "normal,build")
        self.assertEqual(set(everything), {key for key in resolved if key[0] != "headwater"})
        # Another way to know what a binary is of: the sources that its panics name. One that was built together with
        # tests has features that they want, and packages that come with these.
        of_tests = tree("--workspace", "-e", "normal,build,dev") - resolved
        named = re.findall(rb"/registry/src/[^/\0]+/([A-Za-z0-9_-]+?)-(\d+\.\d+\.\d+[^/\0]*)/", pathlib.Path(BINARY).read_bytes())
        sources = {(name.decode(), version.decode()) for name, version in named}
        self.assertGreater(len(sources & required), 40, "the binary names the sources that it was made of")
        self.assertEqual(sources - required - of_tests, set())

    def test_every_package_has_its_licence(self):
        text = (self.root / "THIRD-PARTY-LICENSES.txt").read_text()
        bill = json.loads((self.root / "bill-of-materials.cdx.json").read_text())
        for entry in bill["components"]:
            if entry["scope"] == "required" and "purl" in entry:
                title = f"  {entry['name']} {entry['version']} ("
                self.assertTrue(title in text, title)
        for words in ["Permission is hereby granted", "Apache License", "Zstandard", "Pieter Wuille"]:
            self.assertTrue(words in text, words)

    def test_the_unit_and_the_container_say_what_the_binary_understands(self):
        unit = (self.root / "ops/headwater.service").read_text()
        commands = re.findall(r"^Exec\w+=/usr/local/bin/headwater (.*)$", unit, re.M)
        self.assertEqual(len(commands), 2)
        container = (self.root / "ops/Containerfile").read_text()
        for keyword in ["CMD", "HEALTHCHECK"]:
            command = json.loads(re.search(rf"^{keyword}.*?(\[.*\])$", container, re.M)[1])
            commands.append(" ".join(part for part in command if part != "/usr/local/bin/headwater"))
        self.assertEqual(len(commands), 4)
        for command in commands:
            words = command.split()
            known = headwater(*[word for word in words if not word.startswith(("-", "/", "0."))], "--help").stdout
            for flag in (word for word in words if word.startswith("--")):
                self.assertRegex(known, rf"{flag}\b", command)
        for setting, value in re.findall(r"^ENV (HEADWATER__\S+)=(\S+)$", container, re.M):
            checked = headwater("config", "check", **{setting: value})
            self.assertEqual(checked.returncode, 0, checked.stderr)
            self.assertNotEqual(headwater("config", "check", **{setting: "nonsense"}).returncode, 0, setting)
        # Whatever is copied is in the archive.
        for sources in re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", container, re.M):
            for source in sources.split():
                self.assertTrue((self.root / source).exists(), source)
        self.assertRegex(container, r"(?m)^USER [1-9]\d*:[1-9]\d*$")

    def test_the_unit_gives_a_stop_more_time_than_it_takes(self):
        settings = tomllib.loads((ROOT / "crates/headwater/config.default.toml").read_text())["listen"]
        stop_s = int(re.search(r"^TimeoutStopSec=(\d+)$", (self.root / "ops/headwater.service").read_text(), re.M)[1])
        self.assertGreater(stop_s, (settings["drain_notice_ms"] + settings["drain_timeout_ms"]) / 1000 + 20)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "SKIPPED: systemd-analyze is not installed")
    def test_systemd_takes_the_unit(self):
        unit = self.folder / "headwater.service"
        text = (self.root / "ops/headwater.service").read_text()
        unit.write_text(text.replace("/usr/local/bin/headwater", str(self.root / "headwater")))
        checked = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        self.assertEqual([line for line in checked.stderr.splitlines() if "headwater.service" in line], [])

    def test_the_example_is_a_configuration(self):
        checked = headwater("config", "check", "--config", str(self.root / "headwater.toml.example"))
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_wrong_arguments_are_refused(self):
        for arguments in (["--binary", "/no/such/file"], ["--what"], ["--binary"]):
            done = subprocess.run([str(ROOT / "ops/package"), *arguments], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotEqual(done.stderr.strip(), "")


if __name__ == "__main__":
    unittest.main()
