/** The script of the public page: fills in the program's address, and shows the results of the operations. */
export const SCRIPT = `
const form = document.querySelector("form");
const status = document.querySelector("#status");
const result = document.querySelector("#result");
let shown = "";
for (const place of document.querySelectorAll(".origin")) place.textContent = location.origin;

const element = (name, text, attributes = {}) => {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

const imageOptions = ["size", "selector", "clip", "scale", "transparent"];
const pdfOptions = ["paper", "margins", "landscape"];

const address = (operation) => {
  const data = new FormData(form);
  const query = new URLSearchParams({ url: data.get("url") });
  const others = data.get("format") === "pdf" ? imageOptions : pdfOptions;
  const isWanted = ([name, value]) => name !== "url" && value.trim() !== "" && !others.includes(name);
  if (operation === "thumbs") for (const [name, value] of [...data].filter(isWanted)) query.set(name, value);
  return "/v1/" + operation + "?" + query;
};

const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1) + " s";

async function showThumbnail(response, name, took) {
  const picture = await response.blob();
  if (shown) URL.revokeObjectURL(shown);
  shown = URL.createObjectURL(picture);
  if (picture.type === "application/pdf") {
    const sheets = Number(response.headers.get("x-page-sheets"));
    status.textContent = (sheets === 1 ? "1 sheet, " : sheets + " sheets, ") + Math.ceil(picture.size / 1024) + " kB, " + took();
    result.append(element("a", "The PDF of " + name, { href: shown, download: "page.pdf" }));
    return;
  }
  const size = response.headers.get("x-image-width") + " by " + response.headers.get("x-image-height") + " pixels";
  status.textContent = size + ", " + Math.ceil(picture.size / 1024) + " kB, " + took();
  result.append(element("img", "", { src: shown, alt: "Screenshot of " + name }));
}

async function showTechnologies(response, name, took) {
  const { url, applications } = await response.json();
  status.textContent = applications.length + (applications.length === 1 ? " technology" : " technologies") + " found at " + url + ", " + took();
  if (applications.length === 0) return;
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const title of ["Technology", "Version", "Categories", "Confidence"]) head.append(element("th", title, { scope: "col" }));
  const body = table.createTBody();
  for (const found of applications) {
    const row = body.insertRow();
    row.append(element("th", found.name, { scope: "row" }));
    for (const text of [found.version || "\\u2013", found.categories.join(", "), found.confidence + " %"]) row.append(element("td", text));
  }
  result.append(table);
}

async function showMetadata(response, name, took) {
  const { url, icons, feeds, openGraph, ...metadata } = await response.json();
  status.textContent = "Metadata of " + url + ", " + took();
  const table = element("table");
  const add = (title, text) => {
    if (!text) return;
    const row = table.insertRow();
    row.append(element("th", title, { scope: "row" }), element("td", text));
  };
  for (const title of ["title", "description", "canonical", "language"]) add(title, metadata[title]);
  for (const [property, text] of Object.entries(openGraph)) add("og:" + property, text);
  for (const icon of icons) add(icon.rel, icon.url);
  for (const feed of feeds) add("feed", feed.url);
  if (table.rows.length > 0) result.append(table);
}

const show = { thumbs: showThumbnail, technologies: showTechnologies, metadata: showMetadata };

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const operation = event.submitter?.value in show ? event.submitter.value : "thumbs";
  const request = address(operation);
  const buttons = form.querySelectorAll("button");
  const since = performance.now();
  for (const button of buttons) button.disabled = true;
  result.replaceChildren();
  status.className = "";
  status.textContent = "Loading the page \\u2026";
  try {
    const response = await fetch(request);
    const took = () => seconds(since) + (["HIT", "STALE"].includes(response.headers.get("x-cache")) ? " (cached)" : "");
    if (!response.ok) {
      const { error } = await response.json();
      throw new Error(error.message + " (" + error.code + ")");
    }
    const name = new FormData(form).get("url");
    await show[operation](response, name, took);
  } catch (error) {
    status.className = "error";
    status.textContent = error.message;
  } finally {
    for (const button of buttons) button.disabled = false;
    const line = element("p", "The request: ");
    line.append(element("a", location.origin + request, { href: request }));
    result.append(line);
  }
});
`;
