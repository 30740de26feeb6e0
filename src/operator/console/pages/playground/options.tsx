import { playgrounds } from "polygate:playgrounds";
import { AreaField, CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/page.tsx";
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
            label="API style"
            value={choices.dialect}
            onChange={(dialect) => choose({ dialect })}
            choices={playgrounds.map(({ id, name }) => [id, name] as const)}
          />
          <SelectField
            label="Model"
            value={choices.model}
            onChange={(model) => choose({ model })}
            choices={[...new Set([choices.model, ...models, ...aliases])]
              .sort()
              .map((id) => [id, id] as const)}
          />
        </div>
        <div class="row switches">
          <CheckField label="Stream" value={choices.stream} onChange={(stream) => choose({ stream })} />
          <CheckField
            label="Offer tools"
            value={choices.withTools}
            onChange={(withTools) => choose({ withTools })}
          />
        </div>
        {choices.withTools && (
          <AreaField
            label="Tools"
            value={choices.tools}
            onChange={(tools) => choose({ tools })}
            rows={8}
            mono
            hint="The same tools in every style: a list of name, description and parameters (a JSON schema)."
            error={parseTools(choices.tools).problem}
          />
        )}
        <details>
          <summary>System prompt, key and account</summary>
          <div class="stack">
            <AreaField
              label="System prompt"
              value={choices.system}
              onChange={(system) => choose({ system })}
              rows={3}
            />
            <div class="setting-grid">
              <TextField
                label="Key or provider token"
                type="password"
                value={choices.key}
                onChange={(key) => choose({ key })}
                hint="Empty: the first configured key."
              />
              <TextField
                label="Account"
                value={choices.account}
                onChange={(account) => choose({ account })}
                placeholder="any"
                hint="E-mail address or mobile number. Uses only this account."
              />
            </div>
          </div>
        </details>
      </div>
    </Panel>
  );
}
