import type { components } from '#management-api';
import { DataTable } from '../../part/data-table.js';
import { KeyText } from '../../part/key-text.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';

type Row = components['schemas']['ImpactRow'] & { readonly id?: string; readonly timestamp?: string };
type Side = Row['before'];

/** Checks with a changed result, with the reasons on both sides and a link to the check screen. */
export function ImpactRows({ caption, rows }: { readonly caption: string; readonly rows: readonly Row[] }) {
	const isLogged = rows.some(({ timestamp }) => timestamp !== undefined);
	return (
		<DataTable
			caption={caption}
			rows={rows}
			rowKey={rowName}
			columns={[
				...(isLogged
					? [{ title: 'Decided', cell: ({ timestamp }: Row) => timestamp !== undefined && <TimeText at={timestamp} /> }]
					: []),
				{ title: 'User', cell: ({ user }) => <KeyText text={user} /> },
				{ title: 'Action', cell: ({ action }) => <KeyText text={action} /> },
				{
					title: 'Resource',
					cell: ({ resource }) => (
						<KeyText text={resource.key === null ? resource.type : `${resource.type}:${resource.key}`} />
					),
				},
				{ title: 'Tenant', cell: ({ tenant }) => <KeyText text={tenant} /> },
				{ title: 'Before', cell: ({ before }) => <SideText side={before} /> },
				{ title: 'After', cell: ({ after }) => <SideText side={after} /> },
				{ title: 'Explain', align: 'end', cell: (row) => <CheckLink row={row} /> },
			]}
		/>
	);
}

function rowName({ id, user, action, resource, tenant }: Row): string {
	return JSON.stringify([id, user, action, resource.type, resource.key, tenant]);
}

function SideText({ side: { allow, code, reason } }: { readonly side: Side }) {
	return (
		<>
			<span class={allow ? 'badge good' : 'badge bad'}>{allow ? 'allowed' : 'denied'}</span>{' '}
			<span class="draft-reason">
				<KeyText text={reason === '' ? code : reason} />
			</span>
		</>
	);
}

function CheckLink({ row: { user, action, resource, tenant } }: { readonly row: Row }) {
	const query = { user, action, resource: resource.type, instance: resource.key ?? '', tenant };
	return (
		<a href={screenPath('check', query)} aria-label={`Why: ${user} ${action} ${resource.type}`}>
			Why
		</a>
	);
}
