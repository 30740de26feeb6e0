import { playgrounds } from "polygate:playgrounds";
import { isObject } from "../../../../core/encoding/json.ts";
import {
  PARAMETER_NAMES,
  type Parameters,
  type PlaygroundDialect,
  type PlaygroundRequest,
  type PlaygroundTurn,
} from "../../../../gateway/dialects/playground/types.ts";
import type { InitialConversation } from "../../shared/initial-conversation.ts";
import { texts } from "./texts.ts";
import { parseTools, SAMPLE_TOOLS } from "./tools.ts";

/** The user's settings. */
export interface Choices {
  readonly dialect: string;
  /** Empty: see `selectFirstModel`. */
  readonly model: string;
  /** A second model that gets the same messages; empty: none. */
  readonly otherModel: string;
  readonly system: string;
  readonly stream: boolean;
  readonly withTools: boolean;
  readonly tools: string;
  /** Numbers as the user writes them; empty: the provider's default. */
  readonly temperature: string;
  readonly maxTokens: string;
  /** Further parameters as JSON; empty: none. */
  readonly more: string;
  /** Empty: the first configured key. */
  readonly key: string;
  /** Empty: any account. */
  readonly account: string;
}

/** The built-in model with which a conversation starts if the deployment has it. */
const USUAL_MODEL = "provider-v4-flash";

/** The model with which a conversation starts. `models` is empty until the list is loaded. */
export const selectFirstModel = (models: readonly string[]): string =>
  models.includes(USUAL_MODEL) ? USUAL_MODEL : (models[0] ?? USUAL_MODEL);

const START: Choices = {
  dialect: playgrounds[0].id,
  model: "",
  otherModel: "",
  system: "",
  stream: true,
  withTools: false,
  tools: SAMPLE_TOOLS,
  temperature: "",
  maxTokens: "",
  more: "",
  key: "",
  account: "",
};

const toText = (value: unknown): string => (typeof value === "number" ? String(value) : "");

/** The settings with which the playground starts. */
export function createChoices(initial: InitialConversation | null): Choices {
  if (initial === null) return START;
  const { dialect, model, stream, system, tools, parameters } = initial;
  const { temperature, max_tokens, ...more } = parameters;
  return {
    ...START,
    dialect,
    model,
    stream,
    system,
    withTools: tools.length > 0,
    tools: tools.length > 0 ? JSON.stringify(tools, null, 2) : SAMPLE_TOOLS,
    temperature: toText(temperature),
    maxTokens: toText(max_tokens),
    more: Object.keys(more).length > 0 ? JSON.stringify(more) : "",
  };
}

/** Parses the further parameters. `problem` describes an error; empty: no error. */
export function parseMore(source: string): { readonly parameters: Parameters; readonly problem: string } {
  if (source.trim() === "") return { parameters: {}, problem: "" };
  const names: readonly string[] = PARAMETER_NAMES;
  try {
    const parameters: unknown = JSON.parse(source);
    const isKnown = isObject(parameters) && Object.keys(parameters).every((name) => names.includes(name));
    return isKnown ? { parameters, problem: "" } : { parameters: {}, problem: texts.parametersMustBeObject };
  } catch {
    return { parameters: {}, problem: texts.parametersMustBeObject };
  }
}

/** The dialect, or the first one for an unknown id. */
export const findDialect = (choices: Choices): PlaygroundDialect =>
  playgrounds.find(({ id }) => id === choices.dialect) ?? playgrounds[0];

/** What keeps the settings from being sent; empty: nothing. */
export function findProblem({ withTools, tools, more }: Choices): string {
  return (withTools ? parseTools(tools).problem : "") || parseMore(more).problem;
}

function collectParameters({ temperature, maxTokens, more }: Choices): Parameters {
  return {
    ...parseMore(more).parameters,
    ...(temperature !== "" && { temperature: Number(temperature) }),
    ...(maxTokens !== "" && { max_tokens: Number(maxTokens) }),
  };
}

/** What a request in the chosen style cannot contain: names of parameters and of attachments. */
export function listUnsent(choices: Choices, turns: readonly PlaygroundTurn[]): readonly string[] {
  const dialect = findDialect(choices);
  const parameters = collectParameters(choices);
  const attachments = turns.flatMap((turn) => (turn.role === "user" ? (turn.attachments ?? []) : []));
  return [
    ...PARAMETER_NAMES.filter(
      (name) => parameters[name] !== undefined && dialect.parameters[name] === undefined,
    ),
    ...attachments.filter((attachment) => !dialect.canAttach(attachment)).map(({ name }) => name),
  ];
}

/** The request for a conversation, with what the chosen style can contain. */
export function createRequest(
  choices: Choices,
  model: string,
  turns: readonly PlaygroundTurn[],
): PlaygroundRequest {
  const dialect = findDialect(choices);
  return {
    model,
    system: choices.system,
    stream: choices.stream,
    tools: choices.withTools ? parseTools(choices.tools).tools : [],
    parameters: collectParameters(choices),
    turns: turns.map((turn) =>
      turn.role === "user" && turn.attachments !== undefined
        ? { ...turn, attachments: turn.attachments.filter((attachment) => dialect.canAttach(attachment)) }
        : turn,
    ),
  };
}
