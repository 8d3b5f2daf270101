// Live streams of the older kind.

const create = async t => (await t.raw.StreamRepository.createStream({ title: t.name('Summit'), description: 'Live', thumbnailFileId: undefined })).data;
const patch = { title: 'Renamed' };

async function listed(t, start) {
  const { streamId } = await create(t);
  const live = t.watch(callback => start({ limit: 5, sortBy: 'lastCreated' }, callback));
  await live.until('the stream', ({ data }) => data.some(stream => stream.streamId === streamId));
}

// broadcast tells the server what its media server would tell it.
async function media(t, streamId, event) {
  const response = await fetch(`${t.world.base}/api/v1/media/streams/${streamId}/${event}`, {
    method: 'POST', headers: { authorization: `Bearer ${t.world.facts.mediaKey}` },
  });
  t.ok(response.ok, `${event}: ${response.status} ${await response.text()}`);
}

const event = (name, act) => async t => {
  const { streamId } = await create(t);
  await t.subscribe(t.raw.getLiveStreamTopic?.() ?? `${t.raw.getNetworkTopic()}/videostreaming`);
  await t.listen(`StreamRepository.${name}`, () => act(t, streamId), stream => JSON.stringify(stream).includes(streamId));
};

module.exports = {
  'StreamRepository.createStream': async t => {
    const title = t.name('Summit');
    const { data } = await t.sdk.StreamRepository.createStream({ title, description: 'Live' });
    t.equal(data.title, title);
    t.equal(data.status, 'idle');
    t.ok(data.streamerUrl.url.startsWith('rtmp'));
  },
  'StreamRepository.updateStream': async t => {
    const { data } = await t.sdk.StreamRepository.updateStream((await create(t)).streamId, patch);
    t.equal(data.title, 'Renamed');
  },
  'StreamRepository.editStream': async t => {
    const { data } = await t.sdk.StreamRepository.editStream((await create(t)).streamId, patch);
    t.equal(data.title, 'Renamed');
  },
  'StreamRepository.deleteStream': async t => {
    const { streamId } = await create(t);
    t.equal(await t.sdk.StreamRepository.deleteStream(streamId), true);
    await t.rejects(t.bob.request('GET', `/api/v3/video-streaming/${streamId}`));
  },
  'StreamRepository.disposeStream': async t => {
    const { streamId } = await create(t);
    const { data } = await t.sdk.StreamRepository.disposeStream(streamId);
    t.equal(data.streamId, streamId);
    t.equal(data.status, 'ended');
  },
  'StreamRepository.queryStreams': async t => {
    const { streamId } = await create(t);
    const { data } = await t.sdk.StreamRepository.queryStreams({ sortBy: 'lastCreated' });
    t.ok(data.some(stream => stream.streamId === streamId));
  },
  'StreamRepository.getStream': async t => {
    const { streamId } = await create(t);
    const { data } = await t.sdk.StreamRepository.getStream(streamId);
    t.equal(data.streamId, streamId);
  },
  'StreamRepository.getStreamById': async t => {
    const { streamId, title } = await create(t);
    const live = t.watch(callback => t.sdk.StreamRepository.getStreamById(streamId, callback));
    await live.until('the stream', ({ data }) => data?.title === title);
  },
  'StreamRepository.getStreams': t => listed(t, t.sdk.StreamRepository.getStreams),
  'StreamRepository.onStreamStarted': event('onStreamStarted', (t, streamId) => media(t, streamId, 'start')),
  'StreamRepository.onStreamStopped': event('onStreamStopped', async (t, streamId) => {
    await media(t, streamId, 'start');
    await media(t, streamId, 'stop');
  }),
  'StreamRepository.onStreamRecorded': event('onStreamRecorded', async (t, streamId) => {
    await media(t, streamId, 'start');
    await media(t, streamId, 'stop');
    await media(t, streamId, 'recorded');
  }),
  'StreamRepository.onStreamFlagged': event('onStreamFlagged', (t, streamId) => t.request('POST', `/api/v3/video-streaming/${streamId}/flag`)),
  'StreamRepository.onStreamTerminated': event('onStreamTerminated', async (t, streamId) => {
    await media(t, streamId, 'start');
    await t.admin('DELETE', `/api/v3/video-streaming/${streamId}/streaming-url`);
  }),
  'StreamRepository.onStreamViewerBanned': event('onStreamViewerBanned', (t, streamId) => t.request('PUT', `/api/v3/video-streaming/${streamId}/users/ban`, { userIds: [t.bob.id] })),
  'StreamRepository.onStreamViewerUnbanned': event('onStreamViewerUnbanned', async (t, streamId) => {
    await t.request('PUT', `/api/v3/video-streaming/${streamId}/users/ban`, { userIds: [t.bob.id] });
    await t.request('PUT', `/api/v3/video-streaming/${streamId}/users/unban`, { userIds: [t.bob.id] });
  }),
};
