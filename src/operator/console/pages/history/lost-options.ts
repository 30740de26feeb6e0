import type { PlaygroundDialect } from "../../../../gateway/dialects/playground/types.ts";
import type { HistoryRecord } from "../../api/history.ts";
import { texts } from "./texts.ts";

/** Lists the options of a record's request that the playground does not send in this style, as the user reads them. */
export function listLostOptions(
  { options, end_user: user }: Pick<HistoryRecord, "options" | "end_user">,
  { parameters }: Pick<PlaygroundDialect, "parameters">,
): readonly string[] {
  const { tools: _, tools_omitted: hasOmittedTools, ...others } = options ?? {};
  const names = [...Object.keys(others), ...(user === undefined ? [] : ["user"])];
  return [
    ...(options === null ? [texts.toolsAndParameters] : []),
    ...(hasOmittedTools === true ? [texts.tools] : []),
    ...names.filter((name) => !Object.hasOwn(parameters, name)),
  ];
}
