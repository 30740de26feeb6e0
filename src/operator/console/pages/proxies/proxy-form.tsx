import { useState } from "preact/hooks";
import { addProxy, changeProxy, type ProxyTest, type ProxyView, testProxy } from "../../api/proxies.ts";
import { Button } from "../../ui/button.tsx";
import type { EditFormProps } from "../../ui/forms/editing.tsx";
import { SelectField, TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { words } from "../../ui/words.ts";
import { ProxyOutcome } from "./proxy-outcome.tsx";
import { toProxyTest } from "./proxy-test-result.ts";
import { texts } from "./texts.ts";

interface ProxyFormProps extends EditFormProps {
  /** null: a new proxy. */
  readonly proxy: ProxyView | null;
}

/** Form that adds or changes a proxy. The user can test it before saving. */
export function ProxyForm({ proxy, version, onClose, onSaved }: ProxyFormProps) {
  const [name, setName] = useState(proxy?.name ?? "");
  const [type, setType] = useState(proxy?.type ?? "http");
  const [host, setHost] = useState(proxy?.host ?? "");
  const [port, setPort] = useState(String(proxy?.port ?? ""));
  const [username, setUsername] = useState(proxy?.username ?? "");
  const [password, setPassword] = useState("");
  const [test, setTest] = useState<ProxyTest | "running">();

  const input = () => ({ name, type, host, port: Number(port), username, password });
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    if (proxy === null) await addProxy(input());
    else await changeProxy(proxy.id, input(), ifMatch);
    onSucceeded();
    await onSaved(proxy === null ? texts.proxyAdded : texts.proxySaved);
  };
  const runTest = async () => {
    setTest("running");
    setTest(await toProxyTest(testProxy(input())));
  };
  return (
    <FormDialog
      title={proxy === null ? texts.addProxy : texts.changeProxy}
      action={proxy === null ? texts.addProxy : words.save}
      submit={submit}
      version={version}
      onClose={onClose}
      extra={
        <Button busy={test === "running"} onClick={runTest}>
          {words.test}
        </Button>
      }
    >
      <TextField label={words.name} path="name" value={name} onChange={setName} focus />
      <SelectField
        label={texts.type}
        path="type"
        value={type}
        onChange={(value) => setType(value === "socks5" ? "socks5" : "http")}
        choices={[
          ["http", "HTTP (CONNECT)"],
          ["socks5", "SOCKS5"],
        ]}
      />
      <TextField
        label={texts.host}
        path="host"
        value={host}
        onChange={setHost}
        required
        placeholder="proxy.example.com"
      />
      <TextField
        label={texts.port}
        path="port"
        type="number"
        value={port}
        onChange={setPort}
        required
        min={1}
        max={65_535}
      />
      <TextField label={texts.userName} path="username" value={username} onChange={setUsername} />
      <TextField
        label={words.password}
        path="password"
        type="password"
        autocomplete="new-password"
        value={password}
        onChange={setPassword}
        {...(proxy?.has_password === true && { hint: texts.passwordHint })}
      />
      {test !== undefined && (
        <div aria-live="polite">
          <ProxyOutcome test={test} />
        </div>
      )}
    </FormDialog>
  );
}
