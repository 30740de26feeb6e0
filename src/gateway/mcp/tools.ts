import * as z from "zod";
import { once } from "../../core/encoding/once.ts";

/** A tool: an operation of the gateway's own HTTP API. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** The path that is requested with `GET`. The arguments of a call become its query. */
  readonly path: string;
  /** Members of the query besides the arguments. */
  readonly query?: Readonly<Record<string, string>>;
}

const noArguments = () => z.strictObject({});

const page = () => ({
  url: z.string().min(1).describe("Address of the web page."),
  maxAge: z
    .int()
    .min(0)
    .optional()
    .describe("Maximum age of a cached answer in seconds. 0: load the page again."),
});

/** The longest side of an image for a model: larger images only cost tokens. */
const MAX_SIDE = 1600;
const side = () => z.int().min(1).max(MAX_SIDE).optional();

/** All tools. A schema is strict, so that a wrong name of an argument is an error that the agent can correct. */
export const getTools = once((): readonly Tool[] => [
  {
    name: "list_models",
    title: "List models",
    description: "Lists the models that this gateway serves.",
    input: noArguments(),
    path: "/v1/models",
  },
  {
    name: "get_key_usage",
    title: "Read limits and use of the API key",
    description:
      "Reads the limits of the API key of this connection, what is left of them, and its use today and this month.",
    input: noArguments(),
    path: "/v1/key",
  },
  {
    name: "capture_page",
    title: "Capture a web page",
    description: "Takes a screenshot of a web page and returns it as an image.",
    input: z.strictObject({
      ...page(),
      width: side().describe("Width of the image in pixels."),
      height: side().describe("Height of the image in pixels."),
      format: z.enum(["jpg", "png", "webp"]).optional(),
      full: z.boolean().optional().describe("The whole page, not only what the viewport shows."),
      mobile: z.boolean().optional().describe("As a phone shows the page."),
      darkMode: z.boolean().optional().describe("The dark appearance of the page."),
      selector: z.string().optional().describe("CSS selector of the only element to show."),
    }),
    path: "/v1/thumbs",
    query: { output: "json" },
  },
  {
    name: "detect_technologies",
    title: "Detect technologies of a web page",
    description: "Detects the frameworks, servers, analytics and other technologies that a web page uses.",
    input: z.strictObject(page()),
    path: "/v1/technologies",
  },
  {
    name: "read_metadata",
    title: "Read metadata of a web page",
    description: "Reads title, description, author, dates, images and other metadata of a web page.",
    input: z.strictObject(page()),
    path: "/v1/metadata",
  },
  {
    name: "read_page",
    title: "Read the content of a web page",
    description: "Loads a web page in a browser and returns its content as Markdown, text or HTML.",
    input: z.strictObject({
      ...page(),
      format: z.enum(["markdown", "text", "html"]).default("markdown"),
      selector: z.string().optional().describe("CSS selector of the only element to read."),
    }),
    path: "/v1/content",
    query: { output: "raw" },
  },
]);
