import type { LookupAddress } from 'node:dns';
import test from 'ava';
import { isPublicAddress, PrivateAddressError, publicLookup } from '../../src/outbound/public-address.js';
import { createSender } from '../../src/outbound/send.js';
import { createPoster } from '../../src/upkeep/webhook/post.js';
import { startReceiver } from '../support/receiver.js';

/**
 * Requests to addresses that are configured in environments. Non-public addresses are refused when the connection is
 * opened.
 */

const posted = { headers: { 'content-type': 'application/json' }, body: '{}' };

test('only public internet addresses are treated as public', (t) => {
	const publicOnes = ['8.8.8.8', '93.184.216.34', '172.15.255.255', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'];
	for (const address of publicOnes) t.true(isPublicAddress(address), address);
	const others =
		`0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
		172.31.255.255 192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16
		:: ::1 ::127.0.0.1 ::ffff:10.0.0.1 ::ffff:7f00:1 fe80::1 fc00::1 fd00:ec2::254 fec0::1 ff02::1 64:ff9b::a00:1
		2002:a00:1:: 2001::1 2001:db8::1 localhost 8.8.8`.split(/\s+/);
	for (const address of [...others, '']) t.false(isPublicAddress(address), address);
});

test('a URL with a non-public address is rejected before anything is sent', async (t) => {
	const receiver = await startReceiver();
	t.teardown(receiver.stop);
	const { port } = new URL(receiver.url);
	const refusing = createPoster(createSender(false));
	for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '017700000001', '127.1', '[::ffff:127.0.0.1]', '[::1]']) {
		await t.throwsAsync(refusing({ ...posted, url: `http://${host}:${port}/` }), { instanceOf: PrivateAddressError });
	}
	await t.throwsAsync(refusing({ ...posted, url: `http://localhost:${port}/` }), { instanceOf: PrivateAddressError });
	t.is(receiver.received.length, 0);
	t.is(await createPoster(createSender(true))({ ...posted, url: receiver.url }), 204);
	t.is(receiver.received.length, 1);
});

test('a host name is checked when the connection is opened, with all its addresses', async (t) => {
	const receiver = await startReceiver();
	t.teardown(receiver.stop);
	const { port } = new URL(receiver.url);
	const answers: readonly (readonly string[])[] = [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['fd00::1'], ['10.0.0.1']];
	for (const addresses of answers) {
		const lookup = publicLookup((_, __, done) => {
			done(
				null,
				addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
			);
		});
		const sent = createPoster(createSender(false, { lookup }))({
			...posted,
			url: `http://rebound.example.com:${port}/`,
		});
		await t.throwsAsync(sent, { instanceOf: PrivateAddressError }, addresses.join());
	}
	const unknown = publicLookup((_, __, done) => done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []));
	const sent = createPoster(createSender(false, { lookup: unknown }))({
		...posted,
		url: `http://nowhere.example.com:${port}/`,
	});
	await t.throwsAsync(sent, { code: 'ENOTFOUND' });
	t.is(receiver.received.length, 0);
});

test('redirects are not followed, and only the beginning of a response is read', async (t) => {
	const inner = await startReceiver();
	const outer = await startReceiver((_, response) => response.writeHead(302, { location: inner.url }).end());
	const long = await startReceiver((_, response) => {
		response.writeHead(200);
		const more = () => {
			while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
			if (!response.destroyed) response.once('drain', more);
		};
		more();
	});
	for (const { stop } of [inner, outer, long]) t.teardown(stop);
	const post = createPoster(createSender(true));
	t.is(await post({ ...posted, url: outer.url }), 302);
	t.is(inner.received.length, 0);
	t.is(await post({ ...posted, url: long.url }), 200);
});

test('an attempt with a hanging receiver is aborted, before or after its status', async (t) => {
	const [silent, slow] = [
		await startReceiver(() => {}),
		await startReceiver((_, response) => response.writeHead(500).flushHeaders()),
	];
	for (const { stop } of [silent, slow]) t.teardown(stop);
	const post = createPoster(createSender(true));
	const [hung, told] = [post({ ...posted, url: silent.url }), post({ ...posted, url: slow.url })];
	const error = await t.throwsAsync(hung);
	t.regex(String(error?.name), /^(AbortError|TimeoutError)$/);
	t.is(await told, 500);
});
