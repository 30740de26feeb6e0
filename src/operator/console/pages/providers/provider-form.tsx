import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import { addProvider, changeProvider, type ProviderView } from "../../api/providers.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { navigateTo } from "../../routing.ts";
import type { EditFormProps } from "../../ui/editing.tsx";
import { AreaField, CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useIsUnmounted } from "../../ui/use-is-unmounted.ts";
import {
  CONCURRENCIES,
  changedProviderFields,
  DRIVERS,
  FIELD_NAMES,
  findRejectedField,
  type ProviderDraft,
  type ProviderFaults,
  STRATEGIES,
  toProviderDraft,
  toProviderFields,
  validateProviderDraft,
} from "./provider-draft.ts";

interface ProviderFormProps extends EditFormProps {
  /** null: a new provider. */
  readonly provider: ProviderView | null;
  readonly proxies: readonly ProxyView[];
}

/** Names of text fields. */
type TextName = {
  [K in keyof ProviderDraft]: ProviderDraft[K] extends string ? K : never;
}[keyof ProviderDraft];

/** Returns the error above the buttons, which names the invalid fields. The fields show their own errors. */
function refusal(faults: ProviderFaults): Error {
  const names = Object.entries(FIELD_NAMES).flatMap(([field, name]) => (field in faults ? [name] : []));
  return new Error(`Not saved. Fix: ${names.join(", ")}.`);
}

/** Form that adds or changes a provider. */
export function ProviderForm({ provider, proxies, version, onClose, onSaved }: ProviderFormProps) {
  const [draft, setDraft] = useState(() => toProviderDraft(provider));
  const [faults, setFaults] = useState<ProviderFaults>({});
  const isUnmounted = useIsUnmounted();
  const change = (changes: Partial<ProviderDraft>) => {
    setDraft((before) => ({ ...before, ...changes }));
    setFaults((before) =>
      Object.fromEntries(Object.entries(before).filter(([field]) => !(field in changes))),
    );
  };
  const text = (name: TextName, label = FIELD_NAMES[name]) => ({
    label,
    value: draft[name],
    error: faults[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  const save = async (ifMatch: string | undefined) => {
    if (provider === null) await addProvider({ id: draft.id.trim(), ...toProviderFields(draft) });
    else await changeProvider(provider.id, changedProviderFields(draft, provider), ifMatch);
  };
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const errors = validateProviderDraft(draft);
    setFaults(errors);
    if (Object.keys(errors).length > 0) throw refusal(errors);
    try {
      await save(ifMatch);
    } catch (thrown) {
      const refused = findRejectedField(toMessage(thrown));
      if (refused === null) throw thrown;
      setFaults(refused);
      throw refusal(refused);
    }
    onSucceeded();
    await onSaved(provider === null ? "Provider added" : "Provider saved");
    // After adding a provider, open its models, unless the user already left the form.
    if (provider === null && !isUnmounted.current) navigateTo("providers", draft.id.trim());
  };
  const isKnownDriver = DRIVERS.some(([id]) => id === draft.driver);
  return (
    <FormDialog
      title={provider === null ? "Add provider" : `Provider ${provider.id}`}
      action={provider === null ? "Add provider" : "Save"}
      submit={submit}
      version={version}
      onClose={onClose}
      wide
    >
      {provider === null && (
        <TextField
          {...text("id")}
          required
          mono
          focus
          placeholder="vllm"
          hint="Callers use id/model for its models. Cannot be changed later."
        />
      )}
      <TextField {...text("name")} hint="Shown in this console. Optional." />
      <SelectField
        {...text("driver")}
        hint="The API protocol of the provider."
        choices={isKnownDriver ? DRIVERS : [...DRIVERS, [draft.driver, draft.driver]]}
      />
      <TextField {...text("base_url")} required mono placeholder="http://127.0.0.1:8000/v1" />
      <TextField
        {...text("token")}
        type="password"
        autocomplete="new-password"
        hint={
          provider?.has_token === true
            ? `Leave it empty to keep the present one, ${provider.token_preview}.`
            : "For accounts without a token. With a token the provider needs no accounts."
        }
      />
      <CheckField
        label="Switched on"
        value={draft.enabled}
        onChange={(enabled) => change({ enabled })}
        hint="Off: its models are unavailable and its accounts are not used."
      />
      <div class="limit-grid">
        <TextField
          {...text("models_refresh_hours", "Ask for its models every (hours)")}
          type="number"
          hint="New models are added to the list. Empty: only on demand."
        />
        <SelectField
          {...text("new_models")}
          hint="Models found by the refresh."
          choices={[
            ["on", "Switched on"],
            ["off", "Switched off, until you switch them on"],
          ]}
        />
      </div>
      <details
        open={[
          "proxy_id",
          "api_version",
          "key_header",
          "headers",
          "drop_params",
          "account_max_inflight",
          "affinity_wait_ms",
        ].some((field) => field in faults)}
      >
        <summary>Proxy, headers, limits, accounts and time-outs</summary>
        <div class="stack">
          <SelectField
            {...text("proxy_id")}
            hint="For accounts without a proxy of their own."
            choices={[
              ["", "Direct, no proxy"],
              ...proxies.map(({ id, name, host }) => [id, name || host] as const),
            ]}
          />
          <div class="limit-grid">
            <TextField
              {...text("api_version")}
              mono
              placeholder="2024-10-21"
              hint="The query parameter api-version of every request, for Azure. Empty: none."
            />
            <TextField
              {...text("key_header")}
              mono
              placeholder="api-key"
              hint="The header that carries the API key. Empty: the protocol's own."
            />
          </div>
          <AreaField
            {...text("headers")}
            mono
            rows={3}
            placeholder="X-Title: my gateway"
            hint="One per line, sent with every request. Values are masked; an unchanged line keeps its value."
          />
          <SelectField
            {...text("tool_calls")}
            choices={[
              ["native", "As the protocol has them"],
              ["markup", "As text in the prompt and the answer"],
            ]}
          />
          <CheckField
            label="Non-streaming requests"
            value={draft.whole_answers}
            onChange={(whole_answers) => change({ whole_answers })}
            hint="Requests without streaming are sent without streaming."
          />
          <CheckField
            label="Native path"
            value={draft.native}
            onChange={(native) => change({ native })}
            hint="Requests in the provider's own protocol are sent unchanged. Off: they are translated."
          />
          <TextField
            {...text("drop_params")}
            mono
            placeholder="seed, tools.function.strict"
            hint="Members of requests that this provider never gets, for example because it refuses them. Separate names with commas."
          />
          <SelectField
            {...text("strategy")}
            choices={
              draft.strategy === "" ? [["", "As the protocol does by default"], ...STRATEGIES] : STRATEGIES
            }
          />
          <SelectField
            {...text("max_concurrent")}
            choices={
              draft.max_concurrent === ""
                ? [["", "No limit; for chat sessions the general setting"], ...CONCURRENCIES]
                : CONCURRENCIES
            }
          />
          <div class="limit-grid">
            <TextField {...text("account_max_inflight")} type="number" hint="Empty: the general setting." />
            <TextField
              {...text("affinity_wait_ms", "Wait for the account (seconds)")}
              type="number"
              hint="A conversation waits for its busy account before it moves."
            />
            <TextField
              {...text("first_byte_timeout_ms", "First byte timeout (seconds)")}
              type="number"
              hint="Empty: the default of the deployment."
            />
            <TextField
              {...text("answer_timeout_ms", "Answer timeout (seconds)")}
              type="number"
              hint="Empty: the default of the deployment."
            />
            <TextField
              {...text("idle_timeout_ms", "Idle timeout (seconds)")}
              type="number"
              hint="Empty: the default of the deployment."
            />
          </div>
        </div>
      </details>
    </FormDialog>
  );
}
