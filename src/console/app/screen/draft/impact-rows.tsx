import type { components } from '#management-api';
import { reasonPhrases } from '../../../model/phrase.js';
import { KeyText } from '../../part/key-text.js';
import { PhraseText } from '../../part/phrase-text.js';
import { FoldedRows } from '../../part/table/folded-rows.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';

type Row = components['schemas']['ImpactRow'] & { readonly id?: string; readonly timestamp?: string };
type Side = Row['before'];

/** Checks with a changed result, one line each. A line opens to show the reasons and a link to the check screen. */
export function ImpactRows({ caption, rows }: { readonly caption: string; readonly rows: readonly Row[] }) {
	return (
		<FoldedRows rows={rows}>
			{(shown) => (
				<ul class="impact-rows" aria-label={caption}>
					{shown.map((row) => (
						<li key={rowName(row)}>
							<details>
								<summary>
									<CheckLine row={row} />
								</summary>
								<Reasons row={row} />
							</details>
						</li>
					))}
				</ul>
			)}
		</FoldedRows>
	);
}

function rowName({ id, user, action, resource, tenant }: Row): string {
	return JSON.stringify([id, user, action, resource.type, resource.key, tenant]);
}

function CheckLine({ row: { user, action, resource, tenant, before, after, timestamp } }: { readonly row: Row }) {
	return (
		<span class="impact-check">
			<KeyText text={user} /> <KeyText text={action} />{' '}
			<KeyText text={resource.key === null ? resource.type : `${resource.type}:${resource.key}`} />{' '}
			<span class="quiet">
				in <KeyText text={tenant} />
				{timestamp !== undefined && (
					<>
						, <TimeText at={timestamp} />
					</>
				)}
			</span>{' '}
			<span class="impact-sides">
				<SideBadge side={before} /> <span aria-hidden="true">→</span> <SideBadge side={after} />
			</span>
		</span>
	);
}

function SideBadge({ side: { allow } }: { readonly side: Side }) {
	return <span class={allow ? 'badge good' : 'badge bad'}>{allow ? 'allowed' : 'denied'}</span>;
}

function Reasons({ row }: { readonly row: Row }) {
	const { user, action, resource, tenant, before, after } = row;
	const query = { user, action, resource: resource.type, instance: resource.key ?? '', tenant };
	return (
		<div class="impact-reasons">
			<dl>
				<div>
					<dt>Before</dt>
					<dd>
						<ReasonText side={before} />
					</dd>
				</div>
				<div>
					<dt>After</dt>
					<dd>
						<ReasonText side={after} />
					</dd>
				</div>
			</dl>
			<a href={screenPath('check', query)}>Explain this check</a>
		</div>
	);
}

function ReasonText({ side: { code, reason } }: { readonly side: Side }) {
	return <PhraseText phrases={reasonPhrases(reason === '' ? code : reason)} />;
}
