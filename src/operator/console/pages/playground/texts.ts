import type { ComponentChildren } from "preact";
import { rich, translate } from "../../language.ts";
import { formatPlural } from "../../ui/count.ts";

export const texts = translate("playground", {
  post: (path: string, body: string) => `POST ${path}

${body}`,
  code: "Code",
  messageWasNotSent: "a message that was not sent",
  saySomethingEnterSendsShift: "Enter sends, Shift+Enter adds a line.",
  send: "Send",
  stop: "Stop",
  startOver: "New conversation",
  rawAnswerAppearsHereWhile: "The raw answer appears here while it arrives.",
  http: (status: number, eventsCount: string) => `HTTP ${status}, ${eventsCount}`,
  eventCount: (count: number) => formatPlural(count, "event"),
  lastShown: (maxEventsShown: number) => `, the last ${maxEventsShown} shown`,
  events: "Events",
  stream: "Stream",
  offerTools: "Offer tools",
  tools: "Tools",
  sameToolsInEveryStyle:
    "The same tools in every style: a list of name, description and parameters (a JSON schema).",
  systemPromptKeyAndAccount: "System prompt, key and account",
  systemPrompt: "System prompt",
  keyOrProviderToken: "Key or provider token",
  emptyFirstConfiguredKey: "Empty: the first configured key.",
  eMailAddressOrMobile: "E-mail address or mobile number. Uses only this account.",
  playground: "Playground",
  lead: "Send requests like a caller, and see the raw exchange.",
  conversation: "Conversation",
  onWire: "HTTP exchange",
  rawAnswer: "Raw answer",
  gatewayCannotBeReached: "The gateway cannot be reached.",
  result: (name: string) => `Result of ${name}`,
  sendResult: "Send result",
  sendResults: "Send results",
  toolsNoJson: (value: unknown) => `Invalid JSON in tools: ${value}`,
  toolsMustBeListObjects: "The tools must be a list of objects with name, description and parameters.",
  noMessagesYetDevelopmentProvider:
    "No messages yet. The development provider repeats what you write; “use the tool get_weather for Paris” makes it call a tool.",
  waitingForFirstToken: "Waiting for the first token…",
  firstTokenAfter: (firstToken: string) => `First token after ${firstToken}`,
  doneAfter: (elapsed: string) => `, done after ${elapsed}`,
  inOut: (input: string, output: string) => `, ${input} in, ${output} out`,
  tokenCount: (count: number) => formatPlural(count, "token"),
  empty: "(empty)",
  reasoning: "Reasoning",
  calls: (name: ComponentChildren) => rich`Calls ${name}`,
  thereNoApiKeyAdd: "There is no API key. Add one on the Keys page, or write one here.",
});
