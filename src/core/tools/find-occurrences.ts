export interface Edit {
  /** Character offsets of what is replaced. */
  start: number;
  end: number;
  text: string;
}

/**
 * Edits that replace every occurrence of a text, left to right, none overlapping. A text with
 * plain newlines is found in a file with CRLF too, and the replacement then gets CRLF.
 */
export function findOccurrences(content: string, oldText: string, newText: string): Edit[] {
  const edits = plainOccurrences(content, oldText, newText);
  if (edits.length > 0 || !content.includes('\r\n') || oldText.includes('\r')) return edits;
  return plainOccurrences(content, withCrlf(oldText), withCrlf(newText));
}

export function applyEdits(content: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const edit of edits) {
    result += content.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + content.slice(at);
}

function plainOccurrences(content: string, oldText: string, newText: string): Edit[] {
  const edits: Edit[] = [];
  for (let at = content.indexOf(oldText); at !== -1; ) {
    const end = at + oldText.length;
    edits.push({ start: at, end, text: newText });
    at = content.indexOf(oldText, end);
  }
  return edits;
}

function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}
