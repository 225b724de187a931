/** One turn before the answer. */
export interface StoryStep {
  /** What the step is for, as the turn's text. */
  purpose: string;
  /** At least one; they do not depend on each other. */
  calls: StoryCall[];
}

export interface StoryCall {
  name: string;
  args: Record<string, unknown>;
}

export interface StoryRequest {
  /** Names of the tools offered; those that a story does not know are left alone. */
  offered: ReadonlySet<string>;
  /** One line without double quotes. */
  excerpt: string;
  /** How many steps the story shall have, 1 to 4; it has fewer where tools are missing. */
  length: number;
}

const FOLDER = 'rehearsal';
const NOTES = `${FOLDER}/notes.md`;
// Double quotes never stand in the excerpt, so that this text is in the file once.
const DRAFT = 'Status: "draft"';
const REVISED = 'Status: "revised"';

/**
 * What a rehearsal does with its tools: writes notes, revises them, looks at them, searches them.
 * Paths are relative and nothing depends on time or machine, so that two runs give the same rows.
 */
export function rehearsalStory({ offered, excerpt, length }: StoryRequest): StoryStep[] {
  const write = step('Write notes.', writeNotes(offered, excerpt));
  const revise = step('Mark the notes as revised.', reviseNotes(offered));
  const look = step('Read the notes back and count their lines.', lookAtNotes(offered));
  const search = step('Find where the notes say what this is.', searchNotes(offered));
  const stories = [[write], [write, look], [write, revise, look], [write, revise, look, search]];
  const wanted = (stories[length - 1] ?? []).filter(hasCalls);
  return wanted.length > 0 ? wanted : [write, revise, look, search].filter(hasCalls).slice(0, 1);
}

function step(purpose: string, calls: StoryCall[]): StoryStep {
  return { purpose, calls };
}

function hasCalls({ calls }: StoryStep): boolean {
  return calls.length > 0;
}

function writeNotes(offered: ReadonlySet<string>, excerpt: string): StoryCall[] {
  const lines = ['# Notes of a rehearsal', '', `Prompt: "${excerpt}"`, DRAFT];
  if (offered.has('write_file')) {
    const content = `${lines.join('\n')}\n`;
    return [{ name: 'write_file', args: { path: NOTES, content } }];
  }
  const words = lines.map(shellWord).join(' ');
  return terminal(offered, `mkdir -p ${FOLDER} && printf '%s\\n' ${words} > ${NOTES}`);
}

function reviseNotes(offered: ReadonlySet<string>): StoryCall[] {
  if (offered.has('patch')) {
    const args = { mode: 'replace', path: NOTES, old_string: DRAFT, new_string: REVISED };
    return [{ name: 'patch', args }];
  }
  const edit = `s/^${DRAFT}$/${REVISED}/`;
  return terminal(offered, `sed '${edit}' ${NOTES} > ${NOTES}.new && mv ${NOTES}.new ${NOTES}`);
}

function lookAtNotes(offered: ReadonlySet<string>): StoryCall[] {
  const count = terminal(offered, `grep -c '' ${NOTES}`);
  if (!offered.has('read_file')) return count;
  return [{ name: 'read_file', args: { path: NOTES, offset: 1, limit: 20 } }, ...count];
}

function searchNotes(offered: ReadonlySet<string>): StoryCall[] {
  if (offered.has('search_files')) {
    const args = { pattern: 'rehearsal', target: 'content', path: FOLDER, limit: 10 };
    return [{ name: 'search_files', args }];
  }
  return terminal(offered, `grep -n 'rehearsal' ${NOTES}`);
}

function terminal(offered: ReadonlySet<string>, command: string): StoryCall[] {
  return offered.has('terminal') ? [{ name: 'terminal', args: { command } }] : [];
}

/** A text as one word of POSIX sh. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
