import { kindWord } from '../../../model/change/change-words.js';
import type { Draft } from '../../../model/draft/draft.js';
import type { StaleDraft } from '../../../model/draft/stale-draft.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { replaceDraft } from '../../current-draft.js';
import { focusTitle } from '../../focus-title.js';
import { KeyText } from '../../part/key-text.js';
import { DataTable } from '../../part/table/data-table.js';
import { screenPath } from '../../screen-path.js';
import { reloadAll } from '../../use-loaded.js';

const operations: Readonly<Partial<Record<string, string>>> = {
	create: 'created',
	update: 'changed',
	delete: 'deleted',
};

/** Objects that other users changed after the draft began, and the next steps for the user. */
export function ConflictList({ stale, draft }: { readonly stale: StaleDraft; readonly draft: Draft }) {
	const { revision, objects } = stale;
	const query = { from: String(draft.base_revision + 1), to: String(revision) };
	return (
		<section class="notice" role="alert" aria-labelledby="draft-conflicts">
			<h2 id="draft-conflicts">The environment has changed</h2>
			<p>
				The draft was not published. It is based on revision {draft.base_revision}, but the environment is at revision{' '}
				{revision}.{' '}
				{objects.length === 0
					? 'There are too many changes to list the conflicts.'
					: 'These objects have changed since then:'}
			</p>
			{objects.length > 0 && (
				<DataTable
					caption="Conflicting changes"
					rows={objects}
					rowKey={({ index, kind, key }) => `${index} ${kind} ${key}`}
					columns={[
						{ title: 'Change', cell: ({ index }) => (index < 0 ? '' : index + 1) },
						{
							title: 'Object',
							cell: ({ kind, key }) => (
								<>
									{kindWord(kind)} <KeyText text={key} />
								</>
							),
						},
						{ title: 'Operation', cell: ({ operation }) => operations[operation] ?? operation },
						{
							title: 'At revision',
							cell: (one) => (
								<a href={screenPath('changes', { from: String(one.revision), to: String(one.revision) })}>
									{one.revision}
								</a>
							),
						},
						{ title: 'Author', cell: ({ actor }) => (actor === null ? 'server' : <KeyText text={actor} />) },
					]}
				/>
			)}
			<p>
				<a href={screenPath('changes', query)}>View changes since revision {draft.base_revision}</a>. Then review the
				draft below: it shows the differences from the current state. Publishing removes everything that other users
				added to these objects.
			</p>
			<Button
				onClick={() => {
					replaceDraft({ ...draft, base_revision: revision });
					reloadAll();
					focusTitle();
					announce(`The draft is now based on revision ${revision}.`);
				}}
			>
				Rebase draft onto revision {revision}
			</Button>
		</section>
	);
}
