// Rooms, which are live streams with co-hosts. The media server tells Plaza what happens to the stream.

const create = async t => (await t.raw.RoomRepository.createRoom({ title: t.name('Camp'), type: 'coHosts' })).data;

// report reports events of a room as the media server does.
async function report(t, { roomId }, ...events) {
  const { streamKey } = await key(t, roomId);
  for (const event of events) await t.report('rooms', roomId, event, streamKey);
}

// key returns the key with which the host connects.
async function key(t, roomId) {
  const data = await t.request('GET', `/api/v1/rooms/${roomId}/token`);
  return { streamKey: data.coHostToken ?? data.directStreamKey ?? data.streamKey };
}

// posted returns a room in a post of the community.
async function posted(t) {
  const room = await create(t);
  await t.post({ dataType: 'room', data: { text: 'Watch', roomId: room.roomId } });
  return room;
}

// watched returns a room whose events the user receives.
async function watched(t) {
  const room = await posted(t);
  await t.subscribe(t.raw.getRoomWatcherTopic(room));
  await t.subscribe(t.raw.getRoomStreamerTopic(room));
  return room;
}

const event = (name, act) => async t => {
  const room = await watched(t);
  await t.listen(`RoomRepository.${name}`, () => act(t, room), heard => JSON.stringify(heard).includes(room.roomId));
};

// local checks a listener of what the user does on this device.
const local = (name, act) => async t => {
  const room = await create(t);
  await t.listen(`RoomRepository.${name}`, () => act(t, room));
};

const invite = (t, { roomId }) => t.request('POST', '/api/v1/invitations', { type: 'livestreamCohostInvite', targetType: 'room', targetId: roomId, userIds: [t.bob.id] });
const answer = (t, { invitations }, verb) => t.bob.request('POST', `/api/v1/invitations/${invitations[0]._id}/${verb}`);

// staged returns a room of bob in which the user is a co-host.
async function staged(t) {
  const { data: room } = await t.bob.call('RoomRepository.createRoom', { title: t.name('Camp'), type: 'coHosts' });
  const { communityId } = await t.community();
  await t.bob.call('PostRepository.createPost', { targetType: 'community', targetId: communityId, dataType: 'room', data: { text: 'Watch', roomId: room.roomId } });
  const { invitations } = await t.bob.request('POST', '/api/v1/invitations', { type: 'livestreamCohostInvite', targetType: 'room', targetId: room.roomId, userIds: [t.me] });
  await t.request('POST', `/api/v1/invitations/${invitations[0]._id}/accept`);
  return room;
}

// cohosted returns a room in which bob is a co-host.
async function cohosted(t) {
  const room = await watched(t);
  await answer(t, await invite(t, room), 'accept');
  return room;
}

module.exports = {
  'RoomRepository.createRoom': async t => {
    const title = t.name('Camp');
    const { data } = await t.sdk.RoomRepository.createRoom({ title, description: 'Base camp', metadata: { size: 7 }, liveChatEnabled: true });
    t.equal(data.title, title);
    t.equal(data.metadata.size, 7);
    t.equal(data.status, 'idle');
  },
  'RoomRepository.updateRoom': async t => {
    const { data } = await t.sdk.RoomRepository.updateRoom((await create(t)).roomId, { title: 'Renamed' });
    t.equal(data.title, 'Renamed');
  },
  'RoomRepository.deleteRoom': async t => {
    const { roomId } = await create(t);
    await t.sdk.RoomRepository.deleteRoom(roomId);
    await t.rejects(t.bob.request('GET', `/api/v1/rooms/${roomId}`));
  },
  'RoomRepository.stopRoom': async t => {
    const room = await posted(t);
    const { roomId } = room;
    await report(t, room, 'started');
    const { data } = await t.sdk.RoomRepository.stopRoom(roomId);
    t.equal(data.roomId, roomId);
    t.equal(data.status, 'ended');
  },
  'RoomRepository.getBroadcasterData': async t => {
    const data = await t.sdk.RoomRepository.getBroadcasterData((await create(t)).roomId);
    t.ok(Object.keys(data).length > 0);
  },
  'RoomRepository.getRecordedUrl': async t => {
    t.ok(await t.sdk.RoomRepository.getRecordedUrl((await create(t)).roomId));
  },
  'RoomRepository.removeParticipant': async t => {
    const { roomId } = await cohosted(t);
    await t.sdk.RoomRepository.removeParticipant(roomId, t.bob.id);
    const { rooms } = await t.request('GET', `/api/v1/rooms/${roomId}`);
    t.ok(!JSON.stringify(rooms[0].participants).includes(t.bob.id));
  },
  'RoomRepository.leaveRoom': async t => {
    const { roomId } = await staged(t);
    await t.sdk.RoomRepository.leaveRoom(roomId);
    const { rooms } = await t.request('GET', `/api/v1/rooms/${roomId}`);
    t.ok(!JSON.stringify(rooms[0].participants).includes(t.me));
  },
  'RoomRepository.updateCohostPermission': async t => {
    const { roomId } = await cohosted(t);
    const { data } = await t.sdk.RoomRepository.updateCohostPermission(roomId, t.bob.id, true);
    t.equal(data.roomId, roomId);
    t.ok(data.participants.some(participant => participant.canManageProductTags));
  },
  'RoomRepository.getRoom': async t => {
    const { roomId, title } = await watched(t);
    const live = t.watch(callback => t.sdk.RoomRepository.getRoom(roomId, callback));
    await live.until('the room', ({ data }) => data?.title === title);
    await t.raw.RoomRepository.updateRoom(roomId, { title: 'Renamed' });
    await live.until('the new title', ({ data }) => data.title === 'Renamed');
  },
  'RoomRepository.getRooms': async t => {
    const { roomId } = await posted(t);
    const live = t.watch(callback => t.sdk.RoomRepository.getRooms({ sortBy: 'lastCreated', limit: 10 }, callback));
    await live.until('the room', ({ data }) => data.some(room => room.roomId === roomId));
  },
  'RoomRepository.AmityRoomAnalytics': async t => {
    const analytics = new t.sdk.RoomRepository.AmityRoomAnalytics({ ...await create(t), status: 'live' });
    t.match(await analytics.createWatchSession(new Date()), /^room_/);
  },
  'RoomRepository.WatchSessionStorage': async t => {
    const storage = new t.sdk.RoomRepository.WatchSessionStorage();
    storage.addSession({ sessionId: 'a', syncState: 'PENDING' });
    t.equal(storage.getSession('a').syncState, 'PENDING');
  },
  'RoomRepository.getWatchSessionStorage': async t => {
    t.equal(t.sdk.RoomRepository.getWatchSessionStorage(), t.raw.RoomRepository.getWatchSessionStorage());
  },
  'RoomRepository.syncWatchSessions': async t => {
    const { roomId } = await posted(t);
    const storage = t.raw.RoomRepository.getWatchSessionStorage();
    for (const { sessionId } of storage.getSessionsByState('PENDING')) storage.updateSession(sessionId, { syncState: 'SYNCED' });
    const startTime = new Date(Date.now() - 60_000);
    storage.addSession({ sessionId: `room_${roomId}`, roomId, watchSeconds: 30, startTime, endTime: new Date(), syncState: 'PENDING', syncedAt: null, retryCount: 0 });
    await t.sdk.RoomRepository.syncWatchSessions();
    t.ok(!storage.getSession(`room_${roomId}`) || storage.getSession(`room_${roomId}`).syncState === 'SYNCED');
  },

  'RoomRepository.onRoomStartBroadcasting': event('onRoomStartBroadcasting', (t, room) => report(t, room, 'started')),
  'RoomRepository.onRoomWaitingReconnect': event('onRoomWaitingReconnect', async (t, room) => {
    await report(t, room, 'started', 'interrupted');
  }),
  'RoomRepository.onRoomEndBroadcasting': event('onRoomEndBroadcasting', async (t, room) => {
    await report(t, room, 'started', 'stopped');
  }),
  'RoomRepository.onRoomRecordedAvailable': event('onRoomRecordedAvailable', async (t, room) => {
    await report(t, room, 'started', 'stopped', 'recorded');
  }),
  'RoomRepository.onRoomCoHostInvited': event('onRoomCoHostInvited', invite),
  'RoomRepository.onRoomCoHostInviteAccepted': event('onRoomCoHostInviteAccepted', async (t, room) => answer(t, await invite(t, room), 'accept')),
  'RoomRepository.onRoomCoHostInviteRejected': event('onRoomCoHostInviteRejected', async (t, room) => answer(t, await invite(t, room), 'reject')),
  'RoomRepository.onRoomCoHostInviteCanceled': event('onRoomCoHostInviteCanceled', async (t, room) => {
    const { invitations } = await invite(t, room);
    await t.request('DELETE', `/api/v1/invitations/${invitations[0]._id}`);
  }),
  'RoomRepository.onRoomParticipantJoined': event('onRoomParticipantJoined', async (t, room) => answer(t, await invite(t, room), 'accept')),
  'RoomRepository.onRoomParticipantLeft': event('onRoomParticipantLeft', async (t, room) => {
    await answer(t, await invite(t, room), 'accept');
    await t.bob.request('POST', `/api/v1/rooms/${room.roomId}/leave`);
  }),
  'RoomRepository.onRoomParticipantStageJoined': event('onRoomParticipantStageJoined', (t, room) => report(t, room, 'started')),
  'RoomRepository.onRoomParticipantStageLeft': event('onRoomParticipantStageLeft', async (t, room) => {
    await report(t, room, 'started', 'stopped');
  }),
  'RoomRepository.onRoomParticipantRemoved': event('onRoomParticipantRemoved', async (t, room) => {
    await answer(t, await invite(t, room), 'accept');
    await t.request('DELETE', `/api/v1/rooms/${room.roomId}/participants/${t.bob.id}`);
  }),
  'RoomRepository.onRoomTerminated': event('onRoomTerminated', (t, room) => report(t, room, 'started', 'terminated')),
  // The names of the next two are exchanged in the package: didUpdate comes from the server.
  'RoomRepository.onLocalRoomDidUpdate': event('onLocalRoomDidUpdate', (t, { roomId }) => t.request('PUT', `/api/v1/rooms/${roomId}`, { title: 'Edited' })),
  'RoomRepository.onRoomDidUpdate': async t => {
    const room = await cohosted(t);
    await t.listen('RoomRepository.onRoomDidUpdate', () => t.raw.RoomRepository.updateCohostPermission(room.roomId, t.bob.id, true));
  },
  'RoomRepository.onRoomCreated': async t => {
    await t.listen('RoomRepository.onRoomCreated', () => create(t));
  },
  'RoomRepository.onRoomUpdated': local('onRoomUpdated', (t, { roomId }) => t.raw.RoomRepository.updateRoom(roomId, { title: 'Edited' })),
  'RoomRepository.onRoomDeleted': local('onRoomDeleted', (t, { roomId }) => t.raw.RoomRepository.deleteRoom(roomId)),
  'RoomRepository.onRoomStopped': local('onRoomStopped', async (t, room) => {
    await report(t, room, 'started');
    await t.raw.RoomRepository.stopRoom(room.roomId);
  }),
  'RoomRepository.onRoomLeft': async t => {
    const { roomId } = await staged(t);
    await t.listen('RoomRepository.onRoomLeft', () => t.raw.RoomRepository.leaveRoom(roomId));
  },
};
