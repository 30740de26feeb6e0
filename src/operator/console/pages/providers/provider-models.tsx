import { useState } from "preact/hooks";
import { type ProviderEntryView, type ProviderView, readProvider } from "../../api/providers.ts";
import { formatHref } from "../../routing.ts";
import { formatDriver } from "../../ui/api-styles.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { words } from "../../ui/words.ts";
import { ModelForm } from "./model-form.tsx";
import type { ListedModel } from "./model-list.ts";
import { ModelTable } from "./model-table.tsx";
import { OfferedModels } from "./offered-models.tsx";
import { texts } from "./texts.ts";

/** The open dialog. */
type Doing = { readonly what: "ask" | "add" } | { readonly what: "edit"; readonly model: ListedModel };

/** Page for the models of one provider. */
export function ProviderModels({ id }: { readonly id: string }) {
  const { data, error, reload, replace } = useLoaded<ProviderView>((signal) => readProvider(id, signal), id);
  const [dialog, setDialog] = useState<Doing | null>(null);
  const renderAskButton = (kind?: "primary") => (
    <Button needs="operator" {...(kind !== undefined && { kind })} onClick={() => setDialog({ what: "ask" })}>
      {texts.fetchModels}
    </Button>
  );
  const add = (
    <Button needs="operator" onClick={() => setDialog({ what: "add" })}>
      <Icon name="plus" />
      {texts.addModelTitle}
    </Button>
  );
  // Edits answer the provider without its health.
  const changed = (provider: ProviderEntryView) => {
    if (data !== null) replace({ ...data, ...provider });
  };
  const saved = (provider: ProviderEntryView, message: string) => {
    changed(provider);
    showToast(message);
  };
  const close = () => setDialog(null);
  return (
    <Page
      title={texts.modelsName(data?.name || id)}
      lead={
        <>
          <a href={formatHref("providers")}>{words.providers}</a>
          {data !== null && (
            <>
              {" "}
              {texts.at(formatDriver(data.driver), <span class="mono">{data.base_url}</span>)}
              {!data.enabled && texts.switchedOff}
            </>
          )}
        </>
      }
      actions={
        data !== null && (
          <>
            {!data.read_only && add}
            {renderAskButton("primary")}
          </>
        )
      }
    >
      <LoadState {...{ data, error, reload }} />
      {data !== null && !data.read_only && data.accounts === 0 && (data.needs_account || !data.has_token) && (
        <Notice
          kind={data.needs_account ? "warning" : "info"}
          action={
            <a href={formatHref("accounts", "", `provider=${encodeURIComponent(`:${id}`)}`)}>
              {texts.addAccount}
            </a>
          }
        >
          {data.needs_account ? texts.needsAccount : texts.carriesNoKey}
        </Notice>
      )}
      {data !== null && (
        <ModelTable
          provider={data}
          onChanged={changed}
          reload={reload}
          onEdit={(model) => setDialog({ what: "edit", model })}
          ask={renderAskButton()}
        />
      )}
      {data !== null && dialog?.what === "ask" && (
        <OfferedModels provider={data} onClose={close} onListed={saved} />
      )}
      {data !== null && (dialog?.what === "add" || dialog?.what === "edit") && (
        <ModelForm
          provider={data}
          model={dialog.what === "edit" ? dialog.model : null}
          onClose={close}
          onSaved={saved}
        />
      )}
    </Page>
  );
}
