// The sidebar of the documents' web site, in the order of the index (docs/README.md).

const page = (text, link) => ({ text, link });

/**
 * Returns the groups of the sidebar.
 *
 * @param {readonly { name: string, title: string }[]} reference pages of the API reference
 * @param {readonly { name: string, title: string }[]} decisions decision records
 */
export function sidebar(reference, decisions) {
  return [
    {
      text: "Tutorial",
      items: [
        page("Start", "/README"),
        page("To a connected agent", "/docs/tutorial"),
        page("All documents", "/docs/README"),
      ],
    },
    {
      text: "How-to",
      items: [
        page("Connect clients", "/docs/connect"),
        page("Tools for agents (MCP)", "/docs/mcp"),
        page("Engines", "/docs/engines"),
        page("Credentials", "/docs/credentials"),
        page("The page service", "/docs/page-service"),
        page("Deployment", "/docs/deployment"),
        page("Operating", "/docs/operating"),
        page("Traces and metrics", "/docs/telemetry"),
        page("Troubleshooting", "/docs/troubleshooting"),
        page("Drivers", "/docs/drivers"),
      ],
    },
    {
      text: "API reference",
      collapsed: true,
      items: reference.map(({ title, name }) => page(title, `/reference/${name}`)),
    },
    {
      text: "The gateway's contract",
      collapsed: true,
      items: [
        page("Overview", "/docs/contract"),
        page("Models, answers and streams", "/docs/contract/answers"),
        page("Endpoints of generations", "/docs/contract/generations"),
        page("Options and guardrails", "/docs/contract/options"),
        page("The native path", "/docs/contract/native-path"),
        page("Embeddings, images, batches …", "/docs/contract/other-endpoints"),
        page("Files", "/docs/contract/files"),
        page("Authentication, keys and teams", "/docs/contract/keys"),
        page("Providers", "/docs/contract/providers"),
        page("Routes", "/docs/contract/routes"),
        page("Accounts", "/docs/contract/accounts"),
        page("The admin API", "/docs/contract/admin"),
        page("Admin API: configuration", "/docs/contract/admin-configuration"),
        page("Admin API: keys, accounts …", "/docs/contract/admin-entries"),
        page("Admin API: history", "/docs/contract/admin-history"),
        page("Usage, prices and alerts", "/docs/contract/usage"),
        page("Errors and limits", "/docs/contract/errors"),
        page("Decisions", "/docs/contract/decisions"),
      ],
    },
    {
      text: "The page service's contract",
      collapsed: true,
      items: [
        page("Overview", "/docs/page-contract"),
        page("Thumbnails", "/docs/page-contract/thumbnails"),
        page("Jobs", "/docs/page-contract/jobs"),
      ],
    },
    {
      text: "More reference",
      collapsed: true,
      items: [
        page("Variables", "/docs/variables"),
        page("Glossary", "/docs/glossary"),
        page("Clients", "/docs/clients"),
        page("Tool markup", "/docs/tool-markup"),
        page("The sessions protocol", "/docs/provider-protocol"),
        page("Anthropic backends", "/docs/anthropic-backends"),
        page("OpenAI responses backends", "/docs/openai-responses-backends"),
        page("Gemini backends", "/docs/gemini-backends"),
        page("Changes", "/CHANGELOG"),
      ],
    },
    {
      text: "Explanation",
      collapsed: true,
      items: [
        page("Architecture", "/docs/architecture"),
        page("Performance", "/docs/performance"),
        page("Scale", "/docs/scale"),
        page("Security", "/SECURITY"),
      ],
    },
    {
      text: "Decisions",
      collapsed: true,
      items: [
        page("All decisions", "/docs/decisions/"),
        ...decisions.map(({ title, name }) => page(title, `/docs/decisions/${name}`)),
      ],
    },
    {
      text: "Contribute",
      collapsed: true,
      items: [
        page("Contributing", "/CONTRIBUTING"),
        page("The sandbox", "/sandbox/README"),
        page("Benchmarks", "/bench/README"),
        page("Measured: memory and leaks", "/bench/results/memory"),
        page("Measured: whole answers", "/bench/results/answers"),
        page("Measured: streams", "/bench/results/streams"),
        page("Measured: starts", "/bench/results/startup"),
        page("Measured: captures", "/bench/results/captures"),
        page("Measured: detection of technologies", "/bench/results/technologies"),
        page("Measured: the simulated pool", "/bench/results/pool"),
      ],
    },
  ];
}
