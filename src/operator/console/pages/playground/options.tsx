import { playgrounds } from "polygate:playgrounds";
import { PARAMETER_NAMES } from "../../../../gateway/dialects/playground/types.ts";
import { formatApiStyle } from "../../ui/api-styles.ts";
import { AreaField, CheckField, type Choice, SelectField, TextField } from "../../ui/forms/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { words } from "../../ui/words.ts";
import { type Choices, parseMore } from "./choices.ts";
import { texts } from "./texts.ts";
import { parseTools } from "./tools.ts";

interface OptionsProps {
  readonly choices: Choices;
  readonly choose: (choices: Partial<Choices>) => void;
  readonly models: readonly string[];
  /** Aliases of models. */
  readonly aliases: readonly string[];
}

/** Options of the conversation. Rarely used ones are collapsed. */
export function Options({ choices, choose, models, aliases }: OptionsProps) {
  const listModels = (chosen: string): readonly Choice[] =>
    [...new Set([chosen, ...models, ...aliases])]
      .filter((id) => id !== "")
      .sort()
      .map((id) => [id, id]);
  return (
    <Panel>
      <div class="stack">
        <div class="setting-grid">
          <SelectField
            label={words.apiStyle}
            value={choices.dialect}
            onChange={(dialect) => choose({ dialect })}
            choices={playgrounds.map(({ id }) => [id, formatApiStyle(id)] as const)}
          />
          <SelectField
            label={words.model}
            value={choices.model}
            onChange={(model) => choose({ model })}
            choices={listModels(choices.model)}
          />
          <SelectField
            label={texts.compareWith}
            value={choices.otherModel}
            onChange={(otherModel) => choose({ otherModel })}
            choices={[["", texts.noOtherModel], ...listModels(choices.otherModel)]}
          />
          <TextField
            label={texts.temperature}
            type="number"
            min={0}
            value={choices.temperature}
            onChange={(temperature) => choose({ temperature })}
            placeholder={texts.providersDefault}
          />
          <TextField
            label={texts.maxTokens}
            type="number"
            min={1}
            value={choices.maxTokens}
            onChange={(maxTokens) => choose({ maxTokens })}
            placeholder={texts.providersDefault}
          />
        </div>
        <div class="row switches">
          <CheckField label={texts.stream} value={choices.stream} onChange={(stream) => choose({ stream })} />
          <CheckField
            label={texts.offerTools}
            value={choices.withTools}
            onChange={(withTools) => choose({ withTools })}
          />
        </div>
        {choices.withTools && (
          <AreaField
            label={texts.tools}
            value={choices.tools}
            onChange={(tools) => choose({ tools })}
            rows={8}
            mono
            hint={texts.toolsHint}
            error={parseTools(choices.tools).problem}
          />
        )}
        <details open={choices.more !== ""}>
          <summary>{texts.moreOptions}</summary>
          <div class="stack">
            <AreaField
              label={texts.systemPrompt}
              value={choices.system}
              onChange={(system) => choose({ system })}
              rows={3}
            />
            <TextField
              label={texts.moreParameters}
              value={choices.more}
              onChange={(more) => choose({ more })}
              mono
              placeholder='{"top_p": 0.9}'
              hint={texts.parameterNames(PARAMETER_NAMES.join(", "))}
              error={parseMore(choices.more).problem}
            />
            <div class="setting-grid">
              <TextField
                label={texts.keyOrProviderToken}
                type="password"
                value={choices.key}
                onChange={(key) => choose({ key })}
                hint={texts.keyHint}
              />
              <TextField
                label={words.account}
                value={choices.account}
                onChange={(account) => choose({ account })}
                placeholder={words.any}
                hint={texts.accountHint}
              />
            </div>
          </div>
        </details>
      </div>
    </Panel>
  );
}
