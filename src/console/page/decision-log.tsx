import { useSignal } from '@preact/signals';
import type { components } from '#management-api';
import type { Paginated } from '../model/api-types.js';
import { explainCode } from '../model/check/denial-codes.js';
import { visibleText } from '../model/visible-text.js';
import { PagedListFrame, perPage, usePagedList } from '../part/paged-list.js';
import { Section } from '../part/section.js';
import type { OpenedElement } from './opened-element.js';
import { Time } from './time.js';

type ListedDecision = components['schemas']['AuditLogModel'];

/** The decisions in the tenant, newest first, with a search. */
export function DecisionLog({ element }: { readonly element: OpenedElement }) {
	const { api, instance } = element;
	const search = useSignal('');
	const list = usePagedList(
		(page) =>
			api.get<Paginated<ListedDecision>>(`${element.path()}/data/audit_logs`, {
				search: search.value || null,
				resource_instance_id: instance,
				page,
				per_page: perPage,
			}),
		[element, search.value],
	);
	return (
		<Section id="decisions" title="Decisions">
			<search>
				<label class="inline">
					<span>Search</span>
					<input
						type="search"
						value={search.value}
						onChange={(event) => {
							search.value = event.currentTarget.value.trim();
						}}
					/>
				</label>
			</search>
			<ul class="items">
				{list.found.value?.data.map((decision) => (
					<Decision key={decision.id} decision={decision} />
				))}
			</ul>
			<PagedListFrame list={list} empty={search.value === '' ? 'No decisions yet.' : 'No matching decisions.'} />
		</Section>
	);
}

const marks = { allowed: 'approved', denied: 'denied', unknown: '' } as const;

function Decision({ decision: row }: { readonly decision: ListedDecision }) {
	const { decision, reason, timestamp, user_key, user_name, user_email, action, resource_type } = row;
	const result = decision === null ? 'unknown' : decision ? 'allowed' : 'denied';
	return (
		<li>
			<div class="line">
				<span class={`state ${marks[result]}`}>{result}</span>
				<strong>{visibleText(user_name || user_email || user_key || 'unknown user')}</strong>
				<span>{visibleText([action, resource_type].filter(Boolean).join(' '))}</span>
				<Time at={timestamp} />
			</div>
			{result === 'denied' && reason !== null && (
				<p class="quiet">{explainCode(reason)?.meaning ?? visibleText(reason)}</p>
			)}
		</li>
	);
}
