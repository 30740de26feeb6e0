import { playgrounds } from "polygate:playgrounds";
import { AreaField, CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { parseTools } from "./tools.ts";
import type { Conversation } from "./use-conversation.ts";

interface OptionsProps {
  readonly conversation: Conversation;
  readonly models: readonly string[];
  /** Aliases of models. */
  readonly aliases: readonly string[];
}

/** Options of the conversation. Rarely used ones are collapsed. */
export function Options({ conversation, models, aliases }: OptionsProps) {
  const { choices, choose } = conversation;
  return (
    <Panel>
      <div class="stack">
        <div class="setting-grid">
          <SelectField
            label={words.apiStyle}
            value={choices.dialect}
            onChange={(dialect) => choose({ dialect })}
            choices={playgrounds.map(({ id, name }) => [id, name] as const)}
          />
          <SelectField
            label={words.model}
            value={choices.model}
            onChange={(model) => choose({ model })}
            choices={[...new Set([choices.model, ...models, ...aliases])]
              .sort()
              .map((id) => [id, id] as const)}
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
            hint={texts.sameToolsInEveryStyle}
            error={parseTools(choices.tools).problem}
          />
        )}
        <details>
          <summary>{texts.systemPromptKeyAndAccount}</summary>
          <div class="stack">
            <AreaField
              label={texts.systemPrompt}
              value={choices.system}
              onChange={(system) => choose({ system })}
              rows={3}
            />
            <div class="setting-grid">
              <TextField
                label={texts.keyOrProviderToken}
                type="password"
                value={choices.key}
                onChange={(key) => choose({ key })}
                hint={texts.emptyFirstConfiguredKey}
              />
              <TextField
                label={words.account}
                value={choices.account}
                onChange={(account) => choose({ account })}
                placeholder={words.any}
                hint={texts.eMailAddressOrMobile}
              />
            </div>
          </div>
        </details>
      </div>
    </Panel>
  );
}
