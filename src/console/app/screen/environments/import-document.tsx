import { useSignal } from '@preact/signals';
import { Failure, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { SelectField } from '../../../part/select-field.js';
import { bound } from '../../../part/setter.js';
import { management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { saveFile } from '../../save-file.js';
import { mayWrite, openSession } from '../../session.js';
import { reloadAll } from '../../use-loaded.js';

const strategies = {
	fail: 'Stop if an existing object differs',
	overwrite: 'Overwrite existing objects',
	replace: 'Replace everything: delete objects missing from the document',
} as const; /** The import's behavior, as the end of a sentence. */
const behaviors = {
	fail: 'stops if an existing object differs',
	overwrite: 'overwrites existing objects that differ',
	replace: 'deletes all objects missing from the document',
} as const;

type Strategy = keyof typeof strategies;

/** A dry run, with its file and strategy. */
interface Trial {
	readonly file: File;
	readonly strategy: Strategy;
	readonly report: Report;
}

interface Report {
	readonly total: number;
	readonly counts: Readonly<
		Record<string, { readonly create: number; readonly update: number; readonly delete: number }>
	>;
}

/** Downloads the environment as a document, and imports a chosen or dropped file. */
export function ImportDocument() {
	const { environment } = openSession();
	const strategy = useSignal<Strategy>('fail');
	const file = useSignal<File | null>(null);
	const trial = useSignal<Trial | null>(null);
	const work = useWork();
	// Import only the file and strategy from the last dry run. If either has changed since, a new dry run must come
	// first.
	const tried = trial.value?.file === file.value && trial.value?.strategy === strategy.value ? trial.value : null;
	const choose = (chosen: File | undefined) => {
		file.value = chosen ?? null;
	};
	const send = async (sent: File, conflict_strategy: Strategy, dry_run: boolean): Promise<Report> => {
		const document: unknown = JSON.parse(await sent.text());
		return management.post('/v2/projects/{proj_id}/envs/{env_id}/import', {
			query: { conflict_strategy, dry_run },
			// The server validates the file.
			body: document as never,
		});
	};
	const tryOut = async (chosen: File) => {
		const chosenStrategy = strategy.value;
		const report = await send(chosen, chosenStrategy, true);
		trial.value = { file: chosen, strategy: chosenStrategy, report };
	};
	const bring = async ({ file: sent, strategy: sentStrategy }: Trial) => {
		const text = `Import ${sent.name} into ${environment.key}? The import runs in a single transaction and ${behaviors[sentStrategy]}.`;
		if (!(await confirmWrite('Import document', text, { always: true }))) return;
		const { total } = await send(sent, sentStrategy, false);
		announce(`Import complete: ${total === 1 ? '1 object' : `${total} objects`} changed.`);
		trial.value = null;
		file.value = null;
		reloadAll();
	};
	return (
		<>
			<h2>Export and import</h2>
			<ExportButton />
			{mayWrite.value && (
				<section
					class="environments-drop"
					aria-label="Import document"
					onDragOver={(event) => event.preventDefault()}
					onDrop={(event) => {
						event.preventDefault();
						choose(event.dataTransfer?.files[0]);
					}}
				>
					<label>
						<span>Drop a document here, or choose a file</span>
						<input
							type="file"
							accept="application/json,.json"
							onChange={(event) => choose(event.currentTarget.files?.[0])}
						/>
					</label>
					<SelectField label="Existing objects" {...bound(strategy)} options={strategies} />
					<div class="line">
						<Button
							disabled={file.value === null}
							onClick={() => {
								const chosen = file.value;
								if (chosen !== null) void work.run(() => tryOut(chosen));
							}}
						>
							Preview
						</Button>
						<Button
							class="primary"
							disabled={tried === null}
							onClick={() => {
								if (tried !== null) void work.run(() => bring(tried));
							}}
						>
							Import
						</Button>
						{file.value !== null && <span>{file.value.name}</span>}
					</div>
					<Failure text={work.failure} />
					{tried !== null && <ReportText report={tried.report} />}
				</section>
			)}
		</>
	);
}

function ReportText({ report: { total, counts } }: { readonly report: Report }) {
	if (total === 0) return <p role="status">No changes.</p>;
	return (
		<div role="status">
			<p>{total} objects would change:</p>
			<ul>
				{Object.entries(counts).map(([kind, { create, update, delete: removed }]) => (
					<li key={kind}>
						{kind.replaceAll('_', ' ')}: {create} created, {update} updated, {removed} deleted
					</li>
				))}
			</ul>
		</div>
	);
}

function ExportButton() {
	const { environment } = openSession();
	const work = useWork();
	const download = async () => {
		const document = await management.get('/v2/projects/{proj_id}/envs/{env_id}/export', { parseAs: 'blob' });
		saveFile(document as unknown as Blob, `${environment.key}.json`);
	};
	return (
		<p class="line">
			<Button aria-disabled={work.busy} onClick={() => void work.run(download)}>
				Export document
			</Button>
			<span class="quiet">Schema and facts, without secrets.</span>
			<Failure text={work.failure} />
		</p>
	);
}
