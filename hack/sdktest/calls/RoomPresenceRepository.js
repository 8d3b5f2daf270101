// Who watches a room. The server stores heartbeats in batches and counts every five seconds.

async function watched(t) {
  const { data } = await t.raw.RoomRepository.createRoom({ title: t.name('Camp') });
  await t.post({ dataType: 'room', data: { text: 'Watch', roomId: data.roomId } });
  await t.bob.request('POST', `/api/v1/presence/rooms/${data.roomId}/heartbeat`);
  return data.roomId;
}

// heartbeat waits for a request that the package sends.
async function heartbeat(t, roomId) {
  const watch = t.watch(callback => t.raw.Client.onNetworkActivities(callback));
  t.raw.RoomPresenceRepository.startHeartbeat(roomId);
  await watch.heard('a heartbeat', (request, response) => request.url.includes(`/presence/rooms/${roomId}/heartbeat`) && response.status === 202);
}

module.exports = {
  'RoomPresenceRepository.getRoomOnlineUsers': async t => {
    const roomId = await watched(t);
    await t.eventually('bob', () => t.sdk.RoomPresenceRepository.getRoomOnlineUsers(roomId), ({ data }) => data.some(({ userId }) => userId === t.bob.id));
  },
  'RoomPresenceRepository.getRoomUserCount': async t => {
    const roomId = await watched(t);
    await t.eventually('one viewer', () => t.sdk.RoomPresenceRepository.getRoomUserCount(roomId), ({ count }) => count === 1);
  },
  'RoomPresenceRepository.startHeartbeat': async t => {
    const roomId = await watched(t);
    const watch = t.watch(callback => t.raw.Client.onNetworkActivities(callback));
    t.sdk.RoomPresenceRepository.startHeartbeat(roomId);
    await watch.heard('a heartbeat', (request, response) => request.url.includes(`/presence/rooms/${roomId}/heartbeat`) && response.status === 202);
    t.raw.RoomPresenceRepository.stopHeartbeat(roomId);
  },
  'RoomPresenceRepository.stopHeartbeat': async t => {
    const roomId = await watched(t);
    await heartbeat(t, roomId);
    t.sdk.RoomPresenceRepository.stopHeartbeat(roomId);
  },
};
