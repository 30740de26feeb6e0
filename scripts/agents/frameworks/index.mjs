const file = (name) => new URL(name, import.meta.url);

/** All frameworks and SDKs, with the program that uses each. @type {import("./play.mjs").Framework[]} */
export const FRAMEWORKS = [
  { id: "langchain", title: "LangChain", file: file("langchain.mjs") },
  { id: "openai-agents", title: "OpenAI Agents SDK", file: file("openai-agents.mjs") },
  { id: "llamaindex", title: "LlamaIndex", file: file("llamaindex.mjs") },
  { id: "genkit", title: "Genkit", file: file("genkit.mjs") },
  { id: "mastra", title: "Mastra", file: file("mastra.mjs") },
  { id: "adk", title: "Google ADK", file: file("adk.mjs") },
  { id: "instructor", title: "Instructor", file: file("instructor.mjs") },
  { id: "openai-python", title: "openai (Python)", file: file("python/openai_sdk.py"), python: true },
  {
    id: "anthropic-python",
    title: "anthropic (Python)",
    file: file("python/anthropic_sdk.py"),
    python: true,
  },
  {
    id: "google-genai-python",
    title: "google-genai (Python)",
    file: file("python/google_sdk.py"),
    python: true,
  },
];
