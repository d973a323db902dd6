"""What the binary is made of: a bill of materials (CycloneDX 1.5, JSON) and the licences of all of it.

`cargo tree` says which packages are built into the binary for the platform, with the features that are chosen;
`cargo metadata` says what is known of each. Packages that only take part in the build are listed as `excluded`.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import uuid
from datetime import datetime, timezone

PACKAGE = "headwater"
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)
# Where packages bring foreign sources along, their licences lie this deep at most.
DEPTH_MAX = 3


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], check=True, capture_output=True, text=True).stdout


def tree(platform, edges):
    """(name, version) of all packages that are reached by these edges."""
    lines = cargo("tree", "--locked", "--package", PACKAGE, "--target", platform, "--edges", edges,
                  "--prefix", "none", "--format", "{p}").splitlines()
    found = (re.match(r"(\S+) v(\S+)", line) for line in lines)
    return {(match[1], match[2]) for match in found if match}


def packages():
    known = json.loads(cargo("metadata", "--locked", "--format-version", "1"))["packages"]
    return {(package["name"], package["version"]): package for package in known}


def checksums():
    """Of the packages as the registry has them, from the lock file."""
    text = pathlib.Path("Cargo.lock").read_text()
    found = {}
    for block in text.split("[[package]]")[1:]:
        field = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', block, re.MULTILINE))
        if "checksum" in field:
            found[field["name"], field["version"]] = field["checksum"]
    return found


def purl(name, version):
    return f"pkg:cargo/{name}@{version}"


def reference(name, version, checksum):
    """Our own crates are in no registry, where others may have their names."""
    return purl(name, version) if checksum else f"{PACKAGE}/{name}@{version}"


def component(package, scope, checksum):
    name, version = package["name"], package["version"]
    entry = {
        "type": "library", "bom-ref": reference(name, version, checksum), "name": name,
        "version": version, "scope": scope,
    }
    if checksum:
        entry["purl"] = purl(name, version)
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package.get("description"):
        entry["description"] = " ".join(package["description"].split())
    if package.get("license"):
        # Old packages write "MIT/Apache-2.0".
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def bill(known, shipped, built_with):
    sums = checksums()
    own = next(package for (name, _), package in known.items() if name == PACKAGE)
    made = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)
    listed = [(key, "required") for key in shipped] + [(key, "excluded") for key in built_with]
    components = [component(known[key], scope, sums.get(key))
                  for key, scope in sorted(listed) if key[0] != PACKAGE]
    whole = f"{PACKAGE}@{own['version']}"
    content = json.dumps(components, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(content.encode()).hexdigest())}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application", "bom-ref": whole, "name": own["name"],
                "version": own["version"],
                "licenses": [{"expression": own["license"]}],
            },
        },
        "components": components,
        "dependencies": [{"ref": whole, "dependsOn": [
            entry["bom-ref"] for entry in components if entry["scope"] == "required"]}],
    }


def licence_files(folder):
    for path in sorted(folder.rglob("*")):
        deep = len(path.relative_to(folder).parts)
        if deep <= DEPTH_MAX and path.is_file() and LICENCE_FILE.match(path.name) and path.suffix not in (".rs", ".toml"):
            yield path


def licences(known, shipped, sums):
    """Each text once, with the packages that have it."""
    texts, without = {}, []
    for key in sorted(shipped):
        package = known[key]
        if key not in sums:
            continue  # our own
        folder = pathlib.Path(package["manifest_path"]).parent
        title = f"{key[0]} {key[1]} ({package.get('license') or 'see below'})"
        found = False
        for path in licence_files(folder):
            text = path.read_text(errors="replace").strip()
            if text:
                found = True
                users = texts.setdefault(text, [])
                if title not in users:
                    users.append(title)
        if not found:
            without.append((title, package.get("authors") or []))
    parts = ["Headwater is built from these packages. Each licence is followed by those who use it."]
    if without:
        lines = [f"  {title}: {', '.join(authors) or 'its authors'}" for title, authors in without]
        parts.append("These packages name a licence and bring no text of it; the texts are below:\n" + "\n".join(lines))
    for text, users in sorted(texts.items(), key=lambda entry: entry[1]):
        parts.append("\n".join(f"  {user}" for user in users) + "\n\n" + text)
    return ("\n\n" + "=" * 100 + "\n\n").join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--bill", required=True, type=pathlib.Path)
    parser.add_argument("--licences", required=True, type=pathlib.Path)
    chosen = parser.parse_args()
    known = packages()
    shipped = tree(chosen.platform, "normal,no-proc-macro")
    built_with = tree(chosen.platform, "normal,build") - shipped
    made = bill(known, shipped, built_with)
    chosen.bill.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    chosen.licences.write_text(licences(known, shipped, checksums()))


if __name__ == "__main__":
    main()
