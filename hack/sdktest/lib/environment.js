// Prepares Node for the packages, which expect a browser or React Native. It must be loaded before them.
const Module = require('node:module');

const stored = new Map();
const asyncStorage = {
  getItem: async key => stored.get(key) ?? null,
  setItem: async (key, value) => void stored.set(key, String(value)),
  removeItem: async key => void stored.delete(key),
};
const online = { isConnected: true, isInternetReachable: true };
const netInfo = { addEventListener: () => () => {}, fetch: async () => online };

// Modules of React Native, which the package imports and Node cannot load.
const substitutes = {
  'react-native': { Platform: { OS: 'ios', select: choices => choices.default }, NativeModules: {} },
  '@react-native-async-storage/async-storage': { __esModule: true, default: asyncStorage },
  '@react-native-community/netinfo': { __esModule: true, default: netInfo, ...netInfo },
};
const load = Module._load;
Module._load = function (request, ...rest) {
  return substitutes[request] ?? load.call(this, request, ...rest);
};

Object.defineProperty(globalThis, 'localStorage', {
  value: {
    getItem: key => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, String(value)),
    removeItem: key => void stored.delete(key),
  },
});
globalThis.WebSocket = require('ws');
// FileReader reads a file to a data URL, which is all that the packages need it for.
globalThis.FileReader = class {
  async readAsDataURL(file) {
    this.result = `data:${file.type};base64,${Buffer.from(await file.arrayBuffer()).toString('base64')}`;
    this.onload?.({ target: this });
    this.onloadend?.({ target: this });
  }
};
globalThis.File ??= require('node:buffer').File;
require('axios').defaults.adapter = 'fetch';

// The packages print what they subscribe to, which functions are deprecated and that Node is no browser.
console.log = console.warn = () => {};
const printError = console.error;
console.error = (text, ...rest) => text !== 'Unsupported environment' && printError(text, ...rest);
