// @rest

import { randomUUID } from 'node:crypto';
import test from 'ava';
import { keepAuditLogs } from '../../src/store/audit-log/audit-log-upkeep.js';
import { client } from '../support/client.js';
import { chosenStores, onEachStore } from '../support/each-store.js';
import { bearing } from '../support/element.js';
import { eventually } from '../support/eventually.js';
import { fails, problemPlaces } from '../support/failure.js';
import type { Paginated } from '../support/listed.js';
import { createSecret, newPlace, type Place, startManagement } from '../support/management.js';

/** The decision log, which decision points upload and operators read. */

const journey = onEachStore();

const ingress = '/v1/decision_logs/ingress';
const logsOf = ({ project, key }: Place) => `/v2/pdps/${project}/${key}/audit_logs`;

interface Asked {
	readonly at?: string;
	readonly user?: string;
	readonly action?: string;
	readonly type?: string;
	readonly tenant?: string;
	readonly allow?: boolean;
	readonly code?: string;
}

/** Returns an event as sent by a decision point. */
function event({
	at = '08:00:00',
	user = 'ann',
	action = 'read',
	type = 'document',
	tenant = 'acme',
	allow = false,
	code = allow ? 'allow' : 'no_permission',
}: Asked) {
	return {
		decision_id: randomUUID(),
		timestamp: `2026-01-31T${at}Z`,
		path: 'regolith/check/code',
		labels: { id: 'rack-7:7766', version: '0.9.0' },
		input: { user: { key: user, attributes: { email: `${user}@sent.com` } }, action, resource: { type, tenant } },
		result: { allow, code },
	};
}

/** The response to a batch with invalid events. */
interface Intake {
	readonly accepted: number;
	readonly refused: number;
	readonly detail: readonly { readonly loc: readonly unknown[]; readonly msg: string }[];
}

async function upload({ http }: Place, ...events: readonly object[]): Promise<number> {
	return (await http.post(ingress, events)).status;
}

journey('each decision is stored once, and read with its details', async (t, place) => {
	const { http, key_id, organization_id, project_id, id, facts } = place;
	const ann_record = { key: 'ann', email: 'ann@example.com', first_name: 'Ann', last_name: 'Lee' };
	const user = (await http.post<Record<string, unknown>>(`${facts}/users`, ann_record)).body;
	const denied = event({});
	t.is(await upload(place, denied, event({ user: 'ben', at: '09:00:00', allow: true })), 204);
	t.is(await upload(place, denied), 204, 'sent again after a lost response');
	const { body } = await http.get<Paginated>(logsOf(place));
	t.like(body, { total_count: 2, page_count: 1, pagination_count: 2 });
	const [ben, ann] = body.data;
	t.like(ben, { user_key: 'ben', user_email: 'ben@sent.com', user_name: null, decision: true, reason: 'allow' });
	const expected = {
		id: denied.decision_id,
		timestamp: '2026-01-31T08:00:00.000Z',
		created_at: '2026-01-31T08:00:00.000Z',
		org_id: organization_id,
		project_id,
		env_id: id,
		pdp_config_id: key_id,
		query: 'regolith/check/code',
		user_key: 'ann',
		user_email: 'ann@example.com',
		user_name: 'Ann Lee',
		resource_type: 'document',
		tenant: 'acme',
		action: 'read',
		decision: false,
		reason: 'no_permission',
		input: denied.input,
		result: denied.result,
		context: null,
		raw_data: denied,
	};
	t.deepEqual(ann, expected);
	const one = await http.get(`${logsOf(place)}/${denied.decision_id}`);
	const { created_at, updated_at } = user;
	t.like(one.body, {
		...expected,
		objects: { user_object: { key: 'ann', created_at, updated_at }, tenant_object: null },
	});
	fails(t, await http.get(`${logsOf(place)}/${randomUUID()}`), 404);
	t.is((await http.get(`${logsOf(place)}?page=2`)).status, 200);
});

journey('decisions can be filtered by check, caller and time', async (t, place) => {
	const { http, key_id } = place;
	await upload(
		place,
		event({ at: '08:00:00' }),
		event({ at: '09:00:00', user: 'ben', tenant: 'beta', code: 'tenant_mismatch' }),
		event({ at: '10:00:00', user: 'cat', action: 'write', allow: true }),
		event({ at: '11:00:00', user: 'ben', type: 'folder', allow: true }),
	);
	const hour = (text: string) => Date.parse(`2026-01-31T${text}:00:00Z`) / 1_000;
	for (const [query, expected] of [
		['', ['11', '10', '09', '08']],
		['users=ben', ['11', '09']],
		['users=ben&users=cat', ['11', '10', '09']],
		['decision=false', ['09', '08']],
		['decision=true&users=ben', ['11']],
		['code=no_permission', ['08']],
		['code=allow&users=cat', ['10']],
		['code=tenant_mismatch&decision=true', []],
		['code=no_such_code', []],
		['resources=folder', ['11']],
		['tenant=beta', ['09']],
		['action=write', ['10']],
		[`pdp_id=${key_id}`, ['11', '10', '09', '08']],
		[`pdp_id=${randomUUID()}`, []],
		[`timestamp_from=${hour('09')}&timestamp_to=${hour('11')}`, ['10', '09']],
		['search=FOLD', ['11']],
		['search=b', ['11', '09']],
		['sort_by=timestamp&per_page=1&page=2', ['10']],
		['per_page=3&page=2', ['08']],
	] as const) {
		const { body } = await http.get<Paginated>(`${logsOf(place)}?${query}`);
		t.deepEqual(
			body.data.map(({ timestamp }) => String(timestamp).slice(11, 13)),
			expected,
			query,
		);
	}
	for (const [query, at] of [
		['decision=maybe', 'query.decision'],
		['code=', 'query.code'],
		['code=no%20permission', 'query.code'],
		['code=a&code=b', 'query.code'],
		[`code=${'a'.repeat(129)}`, 'query.code'],
		['timestamp_from=yesterday', 'query.timestamp_from'],
		['pdp_id=7', 'query.pdp_id'],
		['sort_by=user', 'query.sort_by'],
		['per_page=101', 'query.per_page'],
	] as const) {
		t.deepEqual(problemPlaces(await http.get(`${logsOf(place)}?${query}`)), [at], query);
	}
	fails(t, await http.get(`${logsOf(place)}?per_page=100&page=101`), 400, 'narrow the list');
	t.is((await http.get(`${logsOf(place)}?per_page=100&page=100`)).status, 200);
});

journey('events from any OPA are accepted, whatever they query', async (t, place) => {
	const { http } = place;
	const id = { timestamp: '2026-01-31T08:00:00.123456789+02:00' };
	const long = { user: { key: 'x'.repeat(70_000) } };
	t.is(
		await upload(
			place,
			{ ...id, decision_id: 'd/1', input: { user: 'ann', action: 'read', resource: 'document:plan' }, result: true },
			{ ...id, decision_id: 'd/2', input: 'nothing', result: { allow: 'yes' } },
			{ ...id, decision_id: 'd/3' },
			{ ...id, decision_id: 'd/4', input: { user: { key: 'a\0b' }, action: 7 }, result: null },
			{ ...id, decision_id: 'd/5', input: long, result: { allow: false } },
		),
		204,
	);
	const { body } = await http.get<Paginated>(logsOf(place));
	const found = new Map(
		body.data.map((row) => [(row['raw_data'] as { readonly decision_id: string }).decision_id, row]),
	);
	t.like(found.get('d/1'), { user_key: 'ann', resource_type: 'document', decision: true, tenant: null, reason: null });
	t.like(found.get('d/2'), { user_key: null, decision: null });
	t.like(found.get('d/3'), { user_key: null, decision: null });
	t.like(found.get('d/4'), { user_key: 'a\ufffdb', action: null });
	t.like(found.get('d/5'), { decision: false, input: null, raw_data: { truncated: true } });
	t.is((await http.get(`${logsOf(place)}/${String(found.get('d/1')?.['id'])}`)).status, 200);
	t.deepEqual(problemPlaces(await http.post(ingress, [{ decision_id: 'd' }])), ['body.0.timestamp']);
	t.deepEqual(problemPlaces(await http.post(ingress, {})), ['body']);
});

journey('events can be sent as JSON lines, and are stored as they were sent', async (t, place) => {
	const { http, store } = place;
	const [first, second] = [event({ user: 'ann' }), event({ user: 'ben' })];
	const send = (raw: string, type = 'application/x-ndjson') => {
		return http.post<Intake>(ingress, undefined, { raw, headers: { 'content-type': type } });
	};
	const [spaced, long] = [JSON.stringify(first).replaceAll('":', '" : '), { ...second, more: 'x'.repeat(65_536) }];
	t.is((await send(`${spaced}\r\n\n${JSON.stringify(second)}`, 'Application/x-ndjson; charset=utf-8')).status, 204);
	const { rows } = await store.database.knex.raw('select raw::text from audit_logs where id = ?', [first.decision_id]);
	t.is(rows[0].raw.trim(), spaced);
	const other = event({ user: 'cat' });
	const { status, body } = await send(
		[
			'{',
			JSON.stringify(other),
			JSON.stringify(long),
			`${'['.repeat(101)}${']'.repeat(101)}`.padEnd(300),
			JSON.stringify({ ...other, input: { user: '\ud800' } }),
			JSON.stringify([second]),
			JSON.stringify({ ...other, timestamp: 'today' }),
		].join('\n'),
	);
	t.is(status, 200);
	t.deepEqual(
		body.detail.map(({ loc, msg }) => [loc.join('.'), msg.slice(0, 25)]),
		[
			['body.0', 'must be JSON: Expected pr'],
			['body.2', 'must have at most 65536 c'],
			['body.3', 'must not nest deeper than'],
			['body.4.input.user', 'must not contain lone sur'],
			['body.5', 'Invalid input: expected o'],
			['body.6.timestamp', 'must be a time such as 20'],
		],
	);
	const kept = (await http.get<Paginated>(logsOf(place))).body.data.map(({ user_key }) => user_key);
	t.deepEqual(kept.toSorted(), ['ann', 'ben', 'cat']);
	// JSON lines need their content type, and a string in a JSON list is not an event.
	fails(t, await http.post(ingress, undefined, { raw: `${spaced}\n${spaced}` }), 400);
	t.deepEqual(problemPlaces(await http.post(ingress, [JSON.stringify(first)])), ['body.0']);
	t.deepEqual(problemPlaces(await send('{}\n'.repeat(10_001))), ['body']);
	fails(t, await send('1\n'.repeat(131_073)), 413);
	t.is((await send('\n')).status, 204);
});

journey('an invalid event is reported, and the other events of its batch are kept', async (t, place) => {
	const { http, store } = place;
	const ahead = (minutes: number) => new Date(store.clock.now().getTime() + minutes * 60_000).toISOString();
	const bad = [
		{ ...event({}), timestamp: ahead(6) },
		{ ...event({}), timestamp: '9999-12-31T23:59:59Z' },
		{ ...event({}), timestamp: '9999-12-31T23:59:59-23:59' },
		{ ...event({}), timestamp: '0000-06-01T00:00:00Z' },
		{ ...event({}), timestamp: '0001-01-01T00:00:00+01:00' },
		{ ...event({}), timestamp: 'today' },
		{ timestamp: '2026-01-31T08:00:00Z' },
		7,
	];
	const first = { ...event({}), timestamp: '0001-01-01T00:00:00Z' };
	const last = { ...event({}), timestamp: ahead(4) };
	const { status, body } = await http.post<Intake>(ingress, [first, ...bad, last]);
	t.is(status, 200, JSON.stringify(body));
	t.like(body, { accepted: 2, refused: bad.length });
	const places = [...bad.slice(0, 6).map((_, index) => `body.${index + 1}.timestamp`), 'body.7.decision_id', 'body.8'];
	t.deepEqual(
		body.detail.map(({ loc }) => loc.join('.')),
		places,
	);
	const kept = (await http.get<Paginated>(logsOf(place))).body.data.map(({ id }) => id);
	t.deepEqual(kept, [last.decision_id, first.decision_id]);
	const none = await http.post(ingress, bad.slice(0, 2));
	fails(t, none, 422, 'five minutes');
	t.deepEqual(problemPlaces(none), ['body.0.timestamp', 'body.1.timestamp']);
	t.is((await http.post(ingress, [])).status, 204);
});

journey('an event keeps its first version, even if it is sent again on another day', async (t, place) => {
	const { http, store, id } = place;
	const { decision_id, ...sent } = event({});
	const earlier = new Date(store.clock.now().getTime() - 86_400_000);
	const row = { logged_at: earlier, api_key_id: id, action: null, resource_type: null, tenant: null, code: null };
	const intake = store.auditLogIntake({ environment_id: id });
	await intake.add([{ ...row, id: decision_id, user_key: 'ann', decision: false, raw: '{}' }], earlier);
	t.is(await upload(place, { ...sent, decision_id, result: { allow: true } }), 204);
	const { data } = (await http.get<Paginated>(logsOf(place))).body;
	t.deepEqual(
		data.map(({ decision }) => decision),
		[false],
	);
});

journey('decisions and states are accepted from write keys and decision point keys', async (t, place) => {
	const { store, organization_id, project_id, id: environment_id, url, http } = place;
	for (const [access_level, owner_type, status] of [
		['read', 'member', 403],
		['read', 'elements', 403],
		['read', 'pdp_config', 204],
		['write', 'member', 204],
		['no_access', 'pdp_config', 403],
	] as const) {
		const key = { project_id, environment_id, access_level, owner_type };
		const sender = client(url, await createSecret(store, organization_id, key));
		const pdp_instance_id = `${access_level} ${owner_type}`;
		t.is((await sender.post(ingress, [event({})])).status, status, pdp_instance_id);
		t.is((await sender.post('/v2/pdps/me/state', { pdp_instance_id, state: {} })).status, status, pdp_instance_id);
		// A decision point that was started with a read-only key still gets its settings.
		const asked = await sender.post('/v2/pdps/me/config', { pdp_instance_id: `${pdp_instance_id} start` });
		t.is(asked.status, access_level === 'no_access' ? 403 : 200);
	}
	t.is((await http.get<Paginated>(logsOf(place))).body.total_count, 2);
	const { project, key } = place;
	const { body } = await http.get<readonly { readonly id: string }[]>(`/v2/pdps/${project}/${key}/instances`);
	t.is(body.length, 4, JSON.stringify(body));
});

journey('other requests get a response while a large batch is stored', async (t, place) => {
	const batch = Array.from({ length: 4_000 }, () => event({}));
	let stored = false;
	const storing = upload(place, ...batch).then((status) => {
		stored = true;
		return status;
	});
	let answered = 0;
	while (!stored) {
		const { body } = await place.http.get<Paginated>(`${logsOf(place)}?per_page=1`);
		if (!stored && body.total_count > 0 && body.total_count < batch.length) answered += 1;
	}
	t.is(await storing, 204);
	t.true(answered > 0, 'a part of the batch was stored');
});

for (const kind of chosenStores()) {
	test(`uploads fail while their environment fills the log, and other environments lose no decisions [${kind}]`, async (t) => {
		const management = await startManagement(kind, { AUDIT_LOG_MAX_SIZE: '1' });
		t.teardown(management.stop);
		const { store } = management;
		const [quiet, noisy] = [
			await newPlace(management, management.organization),
			await newPlace(management, management.organization),
		];
		const now = store.clock.now();
		const log = async ({ id }: Place, days: number, count: number) => {
			const at = new Date(now.getTime() - days * 86_400_000);
			const row = { logged_at: at, api_key_id: id, action: null, resource_type: null, tenant: null, code: null };
			const rows = Array.from({ length: count }, () => {
				return { ...row, id: randomUUID(), user_key: 'ann', decision: false, raw: JSON.stringify('x'.repeat(1_000)) };
			});
			await store.auditLogIntake({ environment_id: id }).add(rows, at);
		};
		const total = async (place: Place) => (await place.http.get<Paginated>(logsOf(place))).body.total_count;
		for (const days of [3, 2, 1]) {
			await log(quiet, days, 10);
			await log(noisy, days, 200);
		}
		const fill = async () => {
			for (;;) {
				const answer = await noisy.http.post(
					ingress,
					Array.from({ length: 100 }, () => event({ user: 'x'.repeat(500) })),
				);
				if (answer.status !== 204) return answer;
			}
		};
		const full = await fill();
		fails(t, full, 429, 'decision log is full');
		t.is(full.headers.get('retry-after'), '60');
		t.is(await upload(quiet, event({})), 204, 'other environments can still log');
		// The refusal triggers maintenance, which deletes the oldest days of the environment that exceeds its share.
		await eventually(
			() => upload(noisy, event({})),
			(status) => status === 204,
		);
		await eventually(
			async () => {
				await fill();
				return store.keepAuditLogs();
			},
			({ full }) => full.includes(noisy.id),
		);
		t.is((await fill()).status, 429, "today's decisions alone fill the share");
		const { rows } = await store.database.knex.raw<{ readonly rows: readonly { readonly day: string }[] }>(
			'select distinct received_on::text as day from audit_logs where environment_id = ?',
			[noisy.id],
		);
		t.is(rows.length, 1, 'its older days were deleted');
		t.is(await total(quiet), 31);
	});
}

journey('strings that are too long for an index are still logged', async (t, place) => {
	// A long string of three-byte characters, which does not compress.
	const long = Array.from({ length: 1_024 }, (_, index) => String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000)));
	const text = long.join('');
	t.is(await upload(place, event({ user: text, code: text, action: text, type: text, tenant: text })), 204);
	const [logged] = (await place.http.get<Paginated>(logsOf(place))).body.data;
	t.like(logged, { user_key: text.slice(0, 512), reason: text, input: { user: { key: text } } });
});

journey('decisions are visible only in their environment', async (t, place, management) => {
	await upload(place, event({}));
	const other = await newPlace(management, management.organization);
	t.deepEqual((await other.http.get<Paginated>(logsOf(other))).body.data, []);
	const logged = (await place.http.get<Paginated>(logsOf(place))).body.data[0];
	fails(t, await other.http.get(`${logsOf(other)}/${String(logged?.['id'])}`), 404);
	t.is((await client(place.url).post(ingress, [event({})])).status, 401);
	fails(t, await management.organization.post(ingress, [event({})]), 403);
	const reader = client(
		place.url,
		await createSecret(management.store, place.organization_id, {
			project_id: place.project_id,
			environment_id: place.id,
			access_level: 'no_access',
		}),
	);
	fails(t, await reader.get(logsOf(place)), 403);
});

test('old decisions are deleted by day, starting with the oldest day when space runs out', async (t) => {
	// Uses a separate store, because days are dropped for all environments in a store.
	const management = await startManagement();
	t.teardown(management.stop);
	const place = await newPlace(management, management.organization);
	const { store, id, http } = place;
	const { knex } = store.database;
	const logs = store.auditLogIntake({ environment_id: id });
	const row = {
		user_key: 'ann',
		action: null,
		resource_type: null,
		tenant: null,
		decision: false,
		code: null,
		raw: '{}',
	};
	const day = (date: number) => new Date(Date.UTC(2031, 4, date, 12));
	for (const date of [1, 2, 3]) {
		await logs.add([{ ...row, id: randomUUID(), logged_at: day(date), api_key_id: id }], day(date));
	}
	const days = async () =>
		(await http.get<Paginated>(logsOf(place))).body.data.map(({ timestamp }) => String(timestamp).slice(0, 10));
	const room = 2 ** 40;
	t.deepEqual(await days(), ['2031-05-03', '2031-05-02', '2031-05-01']);
	t.like(await keepAuditLogs(knex, day(3), { days: 2, bytes: room }), { full: [] });
	t.deepEqual(await days(), ['2031-05-03', '2031-05-02']);
	t.deepEqual(await keepAuditLogs(knex, day(3), { days: 2, bytes: 1 }), {
		dropped: [{ day: '2031-05-02', environment_id: id }],
		full: [id],
	});
	t.deepEqual(await days(), ['2031-05-03'], 'today’s decisions remain');
});

journey('a signed-in user sees the tenant’s decisions, without the data sent by applications', async (t, place) => {
	const { http, schema, facts, elements } = place;
	await http.post(`${schema}/roles`, { key: 'owner', name: 'Owner' });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	await http.post(`${facts}/users`, { key: 'olga', role_assignments: [{ role: 'owner', tenant: 'acme' }] });
	await http.post(`${elements}/config`, {
		key: 'members',
		name: 'Members',
		elements_type: 'audit_log',
		settings: {},
		roles_to_levels: { LEVEL_1: ['owner'] },
	});
	await upload(place, event({}), event({ tenant: 'beta' }), event({ at: '09:00:00', user: 'ben' }));
	const olga = await bearing(place, 'olga', 'acme');
	const { body } = await olga.get<Paginated>(`${elements}/config/members/data/audit_logs`);
	t.deepEqual(
		body.data.map(({ user_key, tenant }) => [user_key, tenant]),
		[
			['ben', 'acme'],
			['ann', 'acme'],
		],
	);
	t.like(body.data[0], { decision: false, reason: 'no_permission', input: null, raw_data: null });
	const searched = await olga.get<Paginated>(`${elements}/config/members/data/audit_logs?search=ben`);
	t.is(searched.body.total_count, 1);
});
