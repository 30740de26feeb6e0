import type { RequestFacts } from "../../core/ports/request-outcome.ts";

/** The kinds of work of these endpoints, in logs, usage and history. */
export type PassthroughOperation = Extract<
  RequestFacts["operation"],
  "images" | "audio" | "moderations" | "rerank" | "realtime"
>;

/** An endpoint whose requests and answers need no translation. */
export interface PassthroughEndpoint {
  /** The path below the provider's base URL. */
  readonly path: string;
  /** The gateway's paths. */
  readonly paths: readonly string[];
  readonly operation: PassthroughOperation;
  readonly summary: string;
  /** The types of body that the endpoint takes. */
  readonly bodies: readonly ("json" | "form")[];
  /** Whether the API has a default model: a request without one goes to the default provider. */
  readonly isModelOptional: boolean;
  /** The members whose texts the model reads, for the estimate of tokens that the provider does not state. */
  readonly textMembers: readonly string[];
  /** Members of a JSON answer, for the OpenAPI document. Empty: it is never JSON. */
  readonly answerMembers: readonly string[];
  /** Media types of answers other than JSON. */
  readonly otherAnswers: readonly string[];
}

const JSON_BODY = ["json"] as const;
const EVENTS = "text/event-stream";
/** The forms of a transcript besides JSON: text, SRT, VTT. */
const TRANSCRIPTS = ["text/plain", "text/vtt", "application/x-subrip"];
const AUDIO = [
  "audio/mpeg",
  "audio/opus",
  "audio/ogg",
  "audio/aac",
  "audio/flac",
  "audio/wav",
  "audio/pcm",
  "application/octet-stream",
];

/** All of these endpoints. */
export const PASSTHROUGH_ENDPOINTS: readonly PassthroughEndpoint[] = [
  {
    path: "/moderations",
    paths: ["/v1/moderations"],
    operation: "moderations",
    summary: "Classify texts and images",
    bodies: JSON_BODY,
    isModelOptional: true,
    textMembers: ["input"],
    answerMembers: ["id", "model", "results"],
    otherAnswers: [],
  },
  {
    path: "/rerank",
    paths: ["/v1/rerank", "/rerank"],
    operation: "rerank",
    summary: "Rank documents by a query",
    bodies: JSON_BODY,
    isModelOptional: true,
    textMembers: ["query", "documents", "texts"],
    answerMembers: ["results", "usage", "meta"],
    otherAnswers: [],
  },
  {
    path: "/images/generations",
    paths: ["/v1/images/generations"],
    operation: "images",
    summary: "Create images",
    bodies: JSON_BODY,
    isModelOptional: true,
    textMembers: ["prompt"],
    answerMembers: ["created", "data", "usage"],
    otherAnswers: [EVENTS],
  },
  {
    path: "/audio/speech",
    paths: ["/v1/audio/speech"],
    operation: "audio",
    summary: "Create speech",
    bodies: JSON_BODY,
    isModelOptional: false,
    textMembers: ["input", "instructions"],
    answerMembers: [],
    otherAnswers: [EVENTS, ...AUDIO],
  },
  {
    path: "/images/edits",
    paths: ["/v1/images/edits"],
    operation: "images",
    summary: "Edit images",
    bodies: ["form", "json"],
    isModelOptional: true,
    textMembers: ["prompt"],
    answerMembers: ["created", "data", "usage"],
    otherAnswers: [EVENTS],
  },
  {
    path: "/audio/transcriptions",
    paths: ["/v1/audio/transcriptions"],
    operation: "audio",
    summary: "Transcribe speech",
    bodies: ["form"],
    isModelOptional: false,
    textMembers: ["prompt"],
    answerMembers: ["text", "usage"],
    otherAnswers: [EVENTS, ...TRANSCRIPTS],
  },
  {
    path: "/audio/translations",
    paths: ["/v1/audio/translations"],
    operation: "audio",
    summary: "Translate speech to English text",
    bodies: ["form"],
    isModelOptional: false,
    textMembers: ["prompt"],
    answerMembers: ["text"],
    otherAnswers: TRANSCRIPTS,
  },
];
