// The packages under test, by the major number of their version.
const packages = {
  6: '@amityco/ts-sdk',
  7: '@amityco/ts-sdk-react-native',
};

// exportedFunctions returns the path of each function that sdk exports, such as PostRepository.getPost.
function exportedFunctions(sdk, prefix = '') {
  return Object.keys(sdk).flatMap(key => {
    const value = sdk[key];
    if (typeof value === 'function') return [prefix + key];
    return isNamespace(value) ? exportedFunctions(value, `${prefix}${key}.`) : [];
  });
}

// isNamespace reports whether value has functions, unlike the constants that the packages export too.
function isNamespace(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value) &&
    Object.values(value).some(member => typeof member === 'function' || isNamespace(member));
}

// namespaceOf returns the first part of a path; functions outside of a namespace have the namespace "functions".
function namespaceOf(path) {
  return path.includes('.') ? path.slice(0, path.indexOf('.')) : 'functions';
}

// recorded returns a copy of sdk whose functions tell record their path when they are called.
function recorded(sdk, record, prefix = '') {
  const copy = {};
  for (const key of Object.keys(sdk)) {
    const value = sdk[key];
    if (typeof value === 'function') copy[key] = recordedFunction(value, () => record(prefix + key));
    else copy[key] = isNamespace(value) ? recorded(value, record, `${prefix}${key}.`) : value;
  }
  return copy;
}

function recordedFunction(original, record) {
  const wrapper = function (...args) {
    record();
    return new.target ? Reflect.construct(original, args) : original.apply(this, args);
  };
  return Object.assign(wrapper, original); // forms such as getPost.locally
}

// resolve returns the function of a path.
function resolve(sdk, path) {
  return path.split('.').reduce((value, key) => value?.[key], sdk);
}

module.exports = { packages, exportedFunctions, namespaceOf, recorded, resolve };
