// Starts plaza dev for the checks.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');

const readyTimeout = 90_000;

// startServer starts the program with a database of its own, and returns its facts and a function that stops it.
async function startServer(program) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'plaza-sdktest-'));
  fs.chmodSync(dir, 0o711); // the database server is another user
  const data = path.join(dir, 'data');
  const log = fs.openSync(path.join(dir, 'log'), 'w');
  // A user makes more requests in a run than people do.
  const options = ['--ephemeral', '--port', String(await freePorts()), '--data-dir', data, '--rate-limit', 'off'];
  const child = spawn(program, ['dev', ...options], { stdio: ['ignore', log, log] });
  const ended = new Promise(done => child.once('exit', done).once('error', error => done(console.error(error.message))));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    fs.rmSync(dir, { recursive: true, force: true });
  };
  try {
    await ready(child, path.join(dir, 'log'));
    return { facts: JSON.parse(fs.readFileSync(path.join(data, 'dev.json'))), stop, log: path.join(dir, 'log') };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ready(child, log) {
  const end = Date.now() + readyTimeout;
  while (child.exitCode === null && Date.now() < end) {
    if (fs.readFileSync(log, 'utf8').includes('plaza: ready')) return;
    await new Promise(done => setTimeout(done, 100));
  }
  throw new Error(`plaza dev did not become ready:\n${fs.readFileSync(log, 'utf8')}`);
}

// freePorts returns a port that is free like the next two, and like those plus 1000: plaza dev uses these six.
async function freePorts() {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const ports = [0, 1, 2, 1000, 1001, 1002].map(offset => first + offset);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return first;
  }
  throw new Error('no six free ports found between 20000 and 31002');
}

function isFree(port) {
  return new Promise(done => {
    const server = net.createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}

module.exports = { startServer };
