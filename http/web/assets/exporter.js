// Requests a file, follows the job, and saves the file.
import { address, BASE, el, num, post, Problem, send, when } from "./core.js";
import { copier, failed, state } from "./ui.js";

const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });

// exporter is a form for one file: path is where it is requested, body makes the request for a
// format, and jobs is the path of the jobs.
export function exporter({ name, path, jobs, formats, body, fields }) {
  const out = el("div", { class: "job", role: "status" });
  const format = el("select", { "aria-label": "Format of " + name }, formats.map((f) => el("option", { value: f }, f)));
  const button = el("button", { type: "submit", class: "quiet" }, "Request the file");
  return el("form", { class: "filters", onsubmit: async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      let answer = await post(address(path), "POST", body(format.value));
      if (!answer.data) {
        out.replaceChildren(state("locked", "The plan " + answer.plan + " has no exports." + (answer.upgrade_hint ? " The plan " + answer.upgrade_hint + " has them." : "")));
        return;
      }
      const id = answer.data.job_id;
      while (answer.data.status === "queued" || answer.data.status === "running") {
        out.replaceChildren(el("label", {}, "In progress ", el("progress", { max: 1, value: String(answer.data.progress ?? 0) })));
        await sleep(600);
        answer = await post(BASE + jobs + "/" + id, "GET");
      }
      out.replaceChildren(...finished(answer.data));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      out.replaceChildren(failed(problem, () => button.click()));
    } finally { button.disabled = false; }
  } }, fields || null, el("label", { class: "pick" }, "Format ", format), button, out);
}

function finished(job) {
  if (job.status !== "done") return [state("error", "The export failed: " + (job.error ? job.error.detail : job.status) + ".")];
  const note = el("span", { class: "note", role: "status" });
  const save = el("button", { type: "button", "data-ready": job.job_id, onclick: () => download(job, save, note) }, "Download");
  return [
    el("p", {}, save, " ", num(job.rows), " rows, ", num(job.bytes), " bytes, data to ", when(job.as_of), ", kept until ", when(job.expires_at), ". ", note),
    job.truncated ? state("locked", "The file has only the first rows.") : null,
    job.usage ? [...["pandas", "duckdb"].filter((u) => job.usage[u]).map((u) => el("div", { class: "usage" }, el("p", { class: "note" }, u === "pandas" ? "Python with pandas " : "DuckDB ", copier(job.usage[u])), el("pre", { tabindex: 0, "aria-label": u, "data-raw": true }, el("code", {}, job.usage[u]))))] : null,
    el("p", { class: "note" }, "SHA-256 ", el("code", { "data-raw": true }, job.sha256)),
  ].flat(Infinity).filter(Boolean);
}

// download fetches the file with the key, which a plain link cannot send.
async function download(job, button, note) {
  button.disabled = true;
  note.textContent = "Downloading the file.";
  try {
    const file = await send(job.download_url.startsWith("/") ? job.download_url : BASE + job.download_url, { blob: true });
    if (!file.ok) throw new Error("the server answered " + file.status);
    const at = URL.createObjectURL(file.blob);
    const link = el("a", { href: at, download: job.usage ? job.usage.file_name : "export" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(at), 60000);
    note.textContent = "Saved.";
  } catch (failure) {
    note.textContent = "Not saved: " + failure.message;
  } finally { button.disabled = false; }
}
