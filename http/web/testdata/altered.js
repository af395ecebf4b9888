// Alters what the API answers, by its document: how is "holes" (no value that can be null is known),
// "no parts" (nor is any object that can be null, and what is optional is left out), or "names"
// (names run from right to left, without an end; each wallet has one).
((how) => {
  const named = ["username", "question", "title", "event_title", "outcome", "winner", "label", "mode_label", "name", "category", "description", "resolution_source", "station"];
  const empty = ["as_of", "local_date"]; // are only null if there is no data at all
  const real = window.fetch, document = real("/openapi.json").then((answer) => answer.json());
  const alter = (doc, value, schema) => {
    if (value === null || typeof value !== "object" || !schema) return;
    if (schema.$ref) return alter(doc, value, doc.components.schemas[schema.$ref.split("/").at(-1)]);
    for (const part of [...(schema.allOf || []), ...(schema.anyOf || [])]) alter(doc, value, part);
    if (Array.isArray(value)) return value.forEach((v) => alter(doc, v, schema.items));
    for (const [name, v] of Object.entries(value)) {
      const part = (schema.properties || {})[name] || typeof schema.additionalProperties === "object" && schema.additionalProperties;
      if (!part) continue;
      const whole = v !== null && typeof v === "object";
      if (how === "names") {
        if (named.includes(name) && (typeof v === "string" && !part.enum && !v.startsWith("PMX-") || name === "username")) value[name] = "\u202e" + (v || "Somebody");
      } else if (!empty.includes(name) && (!whole || how === "no parts")) {
        if ([part.type].flat().includes("null") || (part.anyOf || []).some((s) => s.type === "null")) value[name] = null;
        else if (how === "no parts" && schema.properties && schema.required && !schema.required.includes(name)) delete value[name];
      }
      alter(doc, value[name], part);
    }
  };
  const altered = (doc, at, body) => {
    const path = new URL(at, location.origin).pathname.replace("/api/v3", "");
    const name = Object.keys(doc.paths).find((p) => new RegExp("^" + p.replace(/\{\w+\}/g, "[^/]+") + "$").test(path));
    if (name && doc.paths[name].get) alter(doc, body, doc.paths[name].get.responses[200].content["application/json"].schema);
    return body;
  };
  window.fetch = async (at, settings) => {
    const answer = await real(at, settings);
    if (!answer.ok || !/^\/(api|answers)/.test(at)) return answer;
    const doc = await document, body = await answer.json(), asked = new URL(at, location.origin).searchParams.getAll("of");
    if (body.answers) body.answers.forEach((one, i) => { if (!(one.status >= 400)) altered(doc, one.of || asked[i], one.body); });
    return new Response(JSON.stringify(body.answers ? body : altered(doc, at, body)), { status: answer.status });
  };
})
