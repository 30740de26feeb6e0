import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

/** The API styles, with the base address of each. */
const CLIENTS: readonly (readonly [string, string])[] = [
  ["Chat completions, responses, embeddings, files", "/v1"],
  ["Messages", "/anthropic"],
  ["Content generation", ""],
  ["Local model runner", ""],
];

const SIZES: readonly (readonly [string, string])[] = [
  ["", "320 × 240"],
  ["t", "Tiny, 90 × 68"],
  ["s", "Small, 120 × 90"],
  ["m", "Medium, 200 × 150"],
  ["l", "Large, 400 × 300"],
  ["x", "Extra large, 480 × 360"],
  ["og", "Social sharing, 1200 × 630"],
  ["o", "Original size"],
];

const FORMATS: readonly (readonly [string, string])[] = [
  ["", "JPEG"],
  ["png", "PNG"],
  ["webp", "WebP"],
  ["pdf", "PDF"],
];

/** Further options of pictures, with an example of each. */
const FIELDS: readonly (readonly [name: string, label: string, example: string])[] = [
  ["selector", "Only this element", "#main"],
  ["clip", "Only this part", "0,600,800,400"],
  ["hide", "Leave out", ".banner, #chat"],
  ["click", "Click on", "button.accept"],
  ["waitForSelector", "Wait for", ".loaded"],
  ["delay", "Then wait, seconds", "2"],
  ["scale", "Pixels for each pixel", "2"],
  ["locale", "Language", "de-CH"],
  ["timezone", "Time zone", "Europe/Berlin"],
  ["paper", "Paper of a PDF", "a4"],
  ["margins", "Margins of a PDF", "10mm"],
];

/**
 * A placeholder for the program's own address. The script fills it in: the address of one request must not get into
 * caches.
 */
const ORIGIN = '<span class="origin">https://&lt;this address&gt;</span>';

/** The public page, the same for all requests. */
export function renderLandingPage(): string {
  const rows = CLIENTS.map(
    ([title, path]) => `<tr><th scope="row">${title}</th><td><code>${ORIGIN}${path}</code></td></tr>`,
  );
  const options = (choices: typeof SIZES) =>
    choices.map(([value, text]) => `<option value="${value}">${text}</option>`).join("");
  const fields = FIELDS.map(
    ([name, label, example]) =>
      `<div><label for="${name}">${label}</label><input type="text" id="${name}" name="${name}" placeholder="${example}" autocomplete="off" spellcheck="false" autocapitalize="none"></div>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Polygate</title>
<meta name="description" content="A model gateway for every chat API style, and screenshots and technology detection for web pages.">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Polygate</h1>
<p>A model gateway and a page service in one program.</p>
</header>
<main>
<section aria-labelledby="gateway">
<h2 id="gateway">Model gateway</h2>
<p>Any SDK of the usual chat APIs works here. Give it this base address and an API key.</p>
<table>
<thead><tr><th scope="col">Style</th><th scope="col">Base address</th></tr></thead>
<tbody>${rows.join("")}</tbody>
</table>
<pre><code>curl ${ORIGIN}/v1/chat/completions -H "Authorization: Bearer $API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "provider-v4-flash", "messages": [{"role": "user", "content": "Hello"}]}'</code></pre>
<p><a href="/v1/models">Models</a> · <a href="/admin">Administration</a></p>
</section>
<section aria-labelledby="pages">
<h2 id="pages">Page service</h2>
<p>A picture or PDF of any public web page, the technologies it uses, or its metadata. No key is needed; each address may make 100 calls a minute.</p>
<form aria-label="Try the page service">
<div><label for="url">Web address</label>
<input type="text" id="url" name="url" value="example.com" required autocomplete="url" inputmode="url" spellcheck="false" autocapitalize="none"></div>
<div><label for="size">Size of the picture</label>
<select id="size" name="size">${options(SIZES)}</select></div>
<div><label for="format">Format</label>
<select id="format" name="format">${options(FORMATS)}</select></div>
<fieldset><legend>Picture options</legend>
<label><input type="checkbox" name="full" value="true">Full page</label>
<label><input type="checkbox" name="mobile" value="true">Phone</label>
<label><input type="checkbox" name="darkMode" value="true">Dark mode</label>
<label><input type="checkbox" name="blockCookieBanners" value="true">Without cookie banners</label>
<label><input type="checkbox" name="blockAds" value="true">Without advertisements</label>
</fieldset>
<details><summary>More options</summary>
<div class="fields">${fields.join("")}</div>
<fieldset><legend>Further options</legend>
<label><input type="checkbox" name="scroll" value="true">Load lazy images</label>
<label><input type="checkbox" name="transparent" value="true">Transparent (PNG, WebP)</label>
<label><input type="checkbox" name="landscape" value="true">Landscape (PDF)</label>
</fieldset>
</details>
<div class="actions"><button name="operation" value="thumbs">Take a picture</button>
<button name="operation" value="technologies">Detect technologies</button>
<button name="operation" value="metadata">Read metadata</button></div>
</form>
<p id="status" role="status"></p>
<div id="result"></div>
<noscript><p>Without scripts, open an address such as <a href="/v1/thumbs?url=example.com">/v1/thumbs?url=example.com</a>.</p></noscript>
<pre><code>curl "${ORIGIN}/v1/thumbs?url=example.com&amp;size=og" -o thumbnail.jpg
curl "${ORIGIN}/v1/thumbs?url=example.com&amp;format=pdf&amp;paper=a4" -o page.pdf
curl "${ORIGIN}/v1/technologies?url=example.com&amp;prettify=true"
curl "${ORIGIN}/v1/metadata?url=example.com&amp;technologies=true"</code></pre>
<p>For many or slow pages, start a job. The answer has its address:</p>
<pre><code>curl "${ORIGIN}/v1/thumbs" -H "Content-Type: application/json" \\
  -d '{"urls": ["example.com", "example.org"], "size": "og"}'</code></pre>
</section>
</main>
<script type="module">${SCRIPT}</script>
</body>
</html>
`;
}
