"""Runs every program of docs/clients.md and the cells of docs/notebook.ipynb.

Arguments: the page, the notebook, a folder to work in, and the folder of the TypeScript
compiler or "". PMX_URL and PMX_KEY have the server and a key. Programs of a language that
is not installed are skipped, with a message. If a program fails, this one exits with 1.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys


def fail(what, said):
    print(f"FAIL     {what}\n{said}", file=sys.stderr)
    sys.exit(1)


def call(what, command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **more)
    if done.returncode != 0:
        fail(what, done.stdout)
    return done.stdout


def r_packages():
    want = "curl jsonlite".split()
    return subprocess.run(["Rscript", "-e", "for (p in commandArgs(TRUE)) library(p, character.only = TRUE)", *want], capture_output=True).returncode == 0


def typescript(what, file, compiler):
    (file.parent / "tsconfig.json").write_text(
        '{"compilerOptions": {"strict": true, "target": "es2022", "module": "nodenext", "types": ["node"], "outDir": "out", "skipLibCheck": true}, "files": ["%s"]}' % file.name)
    (file.parent / "package.json").write_text('{"type": "module"}')
    if not (file.parent / "node_modules").exists():
        (file.parent / "node_modules").symlink_to(pathlib.Path(compiler) / "node_modules")
    call(what, ["node", "node_modules/typescript/bin/tsc", "--project", "."], cwd=file.parent)
    return call(what, ["node", f"out/{file.stem}.js"], cwd=file.parent)


def notebook(path, work):
    import nbclient
    import nbformat

    book = nbformat.read(path, as_version=4)
    if any(cell.get("outputs") for cell in book.cells):
        fail("notebook", "it has outputs: clear them before you commit it")
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", extra_arguments=["--log-level=ERROR"], resources={"metadata": {"path": str(work)}}).execute()
    plots = sum("image/png" in out.get("data", {}) for cell in book.cells for out in cell.get("outputs", []))
    if plots != 3:
        fail("notebook", f"{plots} plots, not 3")
    nbformat.write(book, work / "notebook.ipynb")  # with its outputs, for a person to look at
    print(f"ok       notebook: {len(book.cells)} cells, {plots} plots")


def main(page, book, work, compiler):
    work = pathlib.Path(work)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", pathlib.Path(page).read_text(), re.M | re.S)
    ran = {}
    for n, (language, text) in enumerate(blocks):
        what = f"{language}, program {n + 1} of {page}"
        folder = work / f"{n}"
        folder.mkdir()
        file = folder / f"program.{language}"
        file.write_text(text)
        if language == "sh":
            if "export PMX_KEY" in text or "export PMX_URL" in text:
                continue  # set by the caller
            said = call(what, ["bash", "-euo", "pipefail", file.name], cwd=folder)
        elif language == "python":
            said = call(what, [sys.executable, "-W", "error::DeprecationWarning:__main__", file.name], cwd=folder)
        elif language == "r":
            if not shutil.which("Rscript") or not r_packages():
                print("skipped  R: Rscript with curl and jsonlite is not installed (Debian packages r-base-core, r-cran-curl, r-cran-jsonlite)")
                continue
            said = call(what, ["Rscript", file.name], cwd=folder)
        elif language == "ts":
            if not compiler:
                print("skipped  TypeScript: its compiler is not installed")
                continue
            said = typescript(what, file, compiler)
        elif language == "go":
            said = call(what, [os.environ.get("GO", "go"), "run", file.name], cwd=folder, env={**os.environ, "GO111MODULE": "off"})
        else:
            fail(what, f"programs in {language} cannot be run here")
        if not said.strip() and not any(f.name != file.name for f in folder.iterdir()):
            fail(what, "it printed nothing and wrote nothing")
        ran[language] = ran.get(language, 0) + 1
    for language, n in ran.items():
        print(f"ok       {language}: {n} programs of {os.path.basename(page)}")
    notebook(book, work)


main(*sys.argv[1:])
