import { useState } from "preact/hooks";
import { addProvider, changeProvider, type ProviderView } from "../../api/providers.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { navigateTo } from "../../routing.ts";
import { NumberLimitFields } from "../../shared/limit-fields.tsx";
import type { EditFormProps } from "../../ui/forms/editing.tsx";
import { AreaField, CheckField, SelectField, TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { rejectFaults } from "../../ui/forms/form-errors.ts";
import { useIsUnmounted } from "../../ui/loading/use-is-unmounted.ts";
import { words } from "../../ui/words.ts";
import {
  CACHE_PATH,
  CONCURRENCIES,
  changedProviderFields,
  DRIVER_HINTS,
  DRIVERS,
  type ProviderDraft,
  STRATEGIES,
  toProviderDraft,
  toProviderFields,
  validateProviderDraft,
} from "./provider-draft.ts";
import { texts } from "./texts.ts";

interface ProviderFormProps extends EditFormProps {
  /** null: a new provider. */
  readonly provider: ProviderView | null;
  readonly proxies: readonly ProxyView[];
}

/** Names of text fields. */
type TextName = {
  [K in keyof ProviderDraft]: ProviderDraft[K] extends string ? K : never;
}[keyof ProviderDraft];

/** Form that adds or changes a provider. */
export function ProviderForm({ provider, proxies, version, onClose, onSaved }: ProviderFormProps) {
  const [draft, setDraft] = useState(() => toProviderDraft(provider));
  const isUnmounted = useIsUnmounted();
  const change = (changes: Partial<ProviderDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const text = (name: TextName, label: string) => ({
    label,
    path: name,
    value: draft[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  const save = async (ifMatch: string | undefined) => {
    if (provider === null) await addProvider({ id: draft.id.trim(), ...toProviderFields(draft) });
    else await changeProvider(provider.id, changedProviderFields(draft, provider), ifMatch);
  };
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    rejectFaults(validateProviderDraft(draft));
    await save(ifMatch);
    onSucceeded();
    await onSaved(provider === null ? texts.providerAdded : texts.providerSaved);
    // After adding a provider, open its models, unless the user already left the form.
    if (provider === null && !isUnmounted.current) navigateTo("providers", draft.id.trim());
  };
  const isKnownDriver = DRIVERS.some(([id]) => id === draft.driver);
  return (
    <FormDialog
      title={provider === null ? texts.addProvider : texts.provider(provider.id)}
      action={provider === null ? texts.addProvider : words.save}
      submit={submit}
      version={version}
      onClose={onClose}
      wide
    >
      {provider === null && (
        <TextField {...text("id", texts.id)} required mono focus placeholder="vllm" hint={texts.idHint} />
      )}
      <TextField {...text("name", words.name)} hint={texts.nameHint} />
      <SelectField
        {...text("driver", texts.driver)}
        hint={DRIVER_HINTS[draft.driver] ?? texts.driverHint}
        choices={isKnownDriver ? DRIVERS : [...DRIVERS, [draft.driver, draft.driver]]}
      />
      <TextField {...text("base_url", words.address)} required mono placeholder="http://127.0.0.1:8000/v1" />
      <TextField
        {...text("token", texts.token)}
        type="password"
        autocomplete="new-password"
        hint={provider?.has_token === true ? texts.tokenIsKept(provider.token_preview) : texts.tokenHint}
      />
      <CheckField
        label={texts.enabled}
        value={draft.enabled}
        onChange={(enabled) => change({ enabled })}
        hint={texts.enabledProviderHint}
      />
      <div class="limit-grid">
        <TextField
          {...text("models_refresh_hours", texts.refreshHours)}
          type="number"
          hint={texts.refreshHoursHint}
        />
        <SelectField
          {...text("new_models", texts.newModels)}
          hint={texts.newModelsHint}
          choices={[
            ["on", texts.enabled],
            ["off", texts.disabledUntilEnabled],
          ]}
        />
      </div>
      <details>
        <summary>{texts.moreOptions}</summary>
        <div class="stack">
          <SelectField
            {...text("proxy_id", texts.proxy)}
            hint={texts.proxyHint}
            choices={[
              ["", texts.directNoProxy],
              ...proxies.map(({ id, name, host }) => [id, name || host] as const),
            ]}
          />
          <div class="limit-grid">
            <TextField
              {...text("api_version", texts.apiVersion)}
              mono
              placeholder="2024-10-21"
              hint={texts.apiVersionHint}
            />
            <TextField
              {...text("key_header", texts.headerKey)}
              mono
              placeholder="api-key"
              hint={texts.headerKeyHint}
            />
          </div>
          <AreaField
            {...text("headers", texts.headers)}
            mono
            rows={3}
            placeholder="X-Title: my gateway"
            hint={texts.headersHint}
          />
          <SelectField
            {...text("tool_calls", texts.toolCalls)}
            choices={[
              ["native", texts.nativeToolCalls],
              ["markup", texts.markupToolCalls],
            ]}
          />
          <CheckField
            label={texts.nonStreamingRequests}
            value={draft.whole_answers}
            onChange={(whole_answers) => change({ whole_answers })}
            hint={texts.nonStreamingHint}
          />
          <CheckField
            label={texts.nativePath}
            value={draft.native}
            onChange={(native) => change({ native })}
            hint={texts.nativePathHint}
          />
          <CheckField
            label={texts.pipeStreams}
            value={draft.pipe_streams}
            onChange={(pipe_streams) => change({ pipe_streams })}
            hint={texts.pipeStreamsHint}
          />
          <CheckField
            label={texts.traceContext}
            value={draft.trace_context}
            onChange={(trace_context) => change({ trace_context })}
            hint={texts.traceContextHint}
          />
          <TextField
            {...text("drop_params", texts.fieldsNeverSent)}
            mono
            placeholder="seed, tools.function.strict"
            hint={texts.fieldsNeverSentHint}
          />
          <SelectField
            {...text("strategy", texts.choiceAccount)}
            choices={draft.strategy === "" ? [["", texts.protocolDefault], ...STRATEGIES] : STRATEGIES}
          />
          <SelectField
            {...text("active_probes", texts.activeProbes)}
            hint={texts.activeProbesHint}
            choices={[
              ...(draft.active_probes === "" ? [["", texts.activeProbesByDefault] as const] : []),
              ["on", texts.enabled],
              ["off", texts.disabledWord],
            ]}
          />
          <SelectField
            {...text("max_concurrent", texts.concurrentRequests)}
            choices={
              draft.max_concurrent === ""
                ? [["", texts.noLimitUnlessSessions], ...CONCURRENCIES]
                : CONCURRENCIES
            }
          />
          <div class="limit-grid">
            <TextField
              {...text("account_max_inflight", texts.requestsPerAccount)}
              type="number"
              hint={texts.requestsPerAccountHint}
            />
            <TextField
              {...text("affinity_wait_ms", texts.waitForAccountSeconds)}
              type="number"
              hint={texts.waitForAccountHint}
            />
            <TextField
              {...text("first_byte_timeout_ms", texts.firstByteTimeoutSeconds)}
              type="number"
              hint={texts.deploymentDefault}
            />
            <TextField
              {...text("answer_timeout_ms", texts.answerTimeoutSeconds)}
              type="number"
              hint={texts.deploymentDefault}
            />
            <TextField
              {...text("idle_timeout_ms", texts.idleTimeoutSeconds)}
              type="number"
              hint={texts.deploymentDefault}
            />
            <TextField
              {...text("cache", texts.responseCacheSeconds)}
              path={CACHE_PATH}
              type="number"
              hint={texts.responseCacheHint}
            />
          </div>
          <fieldset class="stack">
            <legend>{texts.providerLimits}</legend>
            <NumberLimitFields draft={draft.limits} onChange={(limits) => change({ limits })} />
          </fieldset>
        </div>
      </details>
    </FormDialog>
  );
}
