import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type PolicyFile, type policyPart, regoOutline } from '../../../model/policy/policy-files.js';
import { program } from '../../../model/program.js';
import { visibleText } from '../../../model/visible-text.js';
import { CodeView } from '../../part/code/code-view.js';
import { CopyButton } from '../../part/copy-button.js';
import { screenPath } from '../../screen-path.js';

interface PolicyFileViewProps {
	readonly file: PolicyFile;
	readonly part: ReturnType<typeof policyPart>;
	/** Revision for the line links. It keeps the links stable. */
	readonly revision: number;
}

/** Number of lines to draw per page. */
const linesAtOnce = 2000;

/** File with numbered, linked lines and an outline. */
export function PolicyFileView({ file: { path, text }, part, revision }: PolicyFileViewProps) {
	// A click on a line link changes only the URL, so render again after it.
	useLocation();
	const marked = markedLine();
	const lines = useMemo(() => text.replace(/\n$/, '').split('\n'), [text]);
	const outline = useMemo(() => (part === 'tables' ? [] : regoOutline(text)), [text, part]);
	const address = (line: number) => `${screenPath('policy', { revision: String(revision), file: path })}#L${line}`;
	const first = marked === null ? 0 : Math.floor((Math.min(marked, lines.length) - 1) / linesAtOnce) * linesAtOnce;
	const shown = lines.slice(first, first + linesAtOnce);
	const pages = Math.ceil(lines.length / linesAtOnce);
	return (
		<>
			<header class="line">
				<h2>{path}</h2>
				<span class="end">
					<CopyButton text={text}>Copy</CopyButton>
				</span>
			</header>
			{part === 'tests' && (
				<p class="quiet">
					Generated tests: they check the rules and tables against the schema. Run them with <code>{program} test</code>
					, or with <code>opa test</code> in the downloaded folder.
				</p>
			)}
			{part === 'tables' && (
				<p class="quiet">Lookup tables for the rules. Role permissions are stored here, not in the Rego.</p>
			)}
			{outline.length > 0 && (
				<details class="policy-outline" open={outline.length <= 12}>
					<summary>Outline, {outline.length === 1 ? '1 heading' : `${outline.length} headings`}</summary>
					<ul>
						{outline.map(({ line, title, description, kind }) => (
							<li key={line}>
								<a href={address(line)}>
									<bdi>{visibleText(title)}</bdi>
								</a>
								{kind !== null && <span class="quiet"> {kind.replaceAll('_', ' ')}</span>}
								{description !== null && <p class="quiet">{visibleText(description)}</p>}
							</li>
						))}
					</ul>
				</details>
			)}
			{pages > 1 && (
				<nav class="line" aria-label="File sections">
					{Array.from({ length: pages }, (_, page) => page * linesAtOnce).map((start) => (
						<a key={start} href={address(start + 1)} aria-current={start === first ? 'true' : undefined}>
							{start + 1} to {Math.min(start + linesAtOnce, lines.length)}
						</a>
					))}
				</nav>
			)}
			<CodeView
				text={shown.join('\n')}
				language={part === 'tables' ? 'json' : 'rego'}
				label={path}
				firstLine={first + 1}
				marked={marked === null ? [] : [marked]}
				lineAddress={address}
			/>
		</>
	);
}

/** Returns the line number in the URL; `null` if the URL has none. */
function markedLine(): number | null {
	const line = Number(/^#L(\d{1,7})$/.exec(location.hash)?.[1] ?? 0);
	return line > 0 ? line : null;
}
