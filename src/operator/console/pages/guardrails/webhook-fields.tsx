import { CheckField, SelectField, TextField } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import type { RuleFieldsProps } from "./guardrail-draft.ts";
import { texts } from "./texts.ts";

/** The moderation service of a rule. */
export function WebhookFields({ rule, path, onChange }: RuleFieldsProps) {
  return (
    <div class="setting-grid">
      <TextField
        label={words.address}
        hint={texts.addressHint}
        type="url"
        mono
        value={rule.url}
        path={`${path}.url`}
        onChange={(url) => onChange({ url })}
      />
      <TextField
        label={texts.token}
        hint={rule.has_token ? texts.tokenIsKept : texts.tokenHint}
        type="password"
        autocomplete="new-password"
        value={rule.token}
        path={`${path}.token`}
        onChange={(token) => onChange({ token })}
      />
      <TextField
        label={words.model}
        hint={texts.modelHint}
        mono
        value={rule.model}
        path={`${path}.model`}
        onChange={(model) => onChange({ model })}
      />
      <TextField
        label={texts.timeout}
        type="number"
        min={100}
        max={60_000}
        value={rule.timeout_ms}
        path={`${path}.timeout_ms`}
        onChange={(timeout_ms) => onChange({ timeout_ms })}
      />
      <SelectField
        label={texts.onFailure}
        value={rule.on_failure}
        choices={Object.entries(texts.failures)}
        onChange={(value) => onChange({ on_failure: value === "allow" ? "allow" : "deny" })}
      />
      {rule.has_token && (
        <CheckField
          label={texts.removeToken}
          value={rule.removesToken}
          onChange={(removesToken) => onChange({ removesToken })}
        />
      )}
    </div>
  );
}
