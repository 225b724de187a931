const MASK = '[hidden]';
/** A run of this many characters of a secret is hidden even where the rest of it is not there. */
const FRAGMENT = 20;
/** Shorter secrets are hidden only as whole words, lest "ok" in a prefill eat half of a message. */
const WORD = 8;

/** Hides `secrets` in a text of one line: whole, as JSON escapes them, and long pieces of them. */
export type Redact = (line: string) => string;

export function createRedact(secrets: readonly string[]): Redact {
  const forms = secretForms(secrets);
  let fragments: Set<string> | undefined;
  return (line) => {
    fragments ??= fragmentsOf(forms);
    let hidden = maskFragments(line, fragments);
    for (const form of forms) hidden = maskWhole(hidden, form);
    return hidden;
  };
}

/** `text` on one line: each run of white space and control characters as one space. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has to go
  return text.replaceAll(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
}

function secretForms(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    const escaped = JSON.stringify(secret).slice(1, -1);
    for (const form of [secret, escaped]) forms.add(oneLine(form));
    for (const line of secret.split(/[\r\n]+/))
      if (line.trim().length >= WORD) forms.add(oneLine(line));
  }
  forms.delete('');
  return [...forms].sort((a, b) => b.length - a.length);
}

function maskWhole(line: string, form: string): string {
  if (form.length >= WORD) return line.replaceAll(form, MASK);
  const escaped = form.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return line.replaceAll(
    new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'gu'),
    MASK,
  );
}

function fragmentsOf(forms: readonly string[]): Set<string> {
  const fragments = new Set<string>();
  for (const form of forms) {
    for (let at = 0; at + FRAGMENT <= form.length; at++)
      fragments.add(form.slice(at, at + FRAGMENT));
  }
  return fragments;
}

function maskFragments(line: string, fragments: ReadonlySet<string>): string {
  if (fragments.size === 0) return line;
  let masked = '';
  let copied = 0;
  let at = 0;
  while (at + FRAGMENT <= line.length) {
    if (!fragments.has(line.slice(at, at + FRAGMENT))) {
      at += 1;
      continue;
    }
    let end = at + FRAGMENT;
    while (fragments.has(line.slice(end - FRAGMENT + 1, end + 1))) end += 1;
    masked += line.slice(copied, at) + MASK;
    copied = end;
    at = end;
  }
  return masked + line.slice(copied);
}
