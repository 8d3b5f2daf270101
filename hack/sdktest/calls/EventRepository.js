// Events of communities.

const day = 86_400_000;
const plan = async (t, bundle) => ({
  title: t.name('Climb'), description: 'At the wall', type: 'in_person', location: 'Main hall', originType: 'community', originId: (await t.community()).communityId,
  startTime: new Date(Date.now() + day).toISOString(), endTime: new Date(Date.now() + 2 * day).toISOString(), ...bundle,
});
const create = async t => (await t.raw.EventRepository.createEvent(await plan(t))).data;

// foreign returns an event of bob in a community of his.
async function foreign(t) {
  const { data } = await t.bob.call('CommunityRepository.createCommunity', { displayName: t.name('Runners'), isPublic: true, userIds: [t.me] });
  const { communities } = await t.request('GET', `/api/v3/communities/${data.communityId}`);
  await t.subscribe(t.raw.getCommunityTopic(communities[0], t.raw.SubscriptionLevels.COMMUNITY));
  const { data: event } = await t.bob.call('EventRepository.createEvent', await plan(t, { originId: data.communityId }));
  return event;
}

const event = (name, act) => async t => {
  const planned = await foreign(t);
  await t.listen(`EventRepository.${name}`, () => act(t, planned), heard => JSON.stringify(heard).includes(planned.eventId) || heard.originId === planned.originId);
};
const local = (name, act) => async t => {
  const planned = await create(t);
  await t.listen(`EventRepository.${name}`, () => act(t, planned));
};
const has = eventId => ({ data }) => data.some(event => event.eventId === eventId);
const bobAnswers = (t, { eventId }, status, method = 'POST') => t.bob.request(method, `/api/v1/events/${eventId}/rsvp`, { status });

module.exports = {
  'EventRepository.createEvent': async t => {
    const bundle = await plan(t);
    const { data } = await t.sdk.EventRepository.createEvent(bundle);
    t.equal(data.title, bundle.title);
    t.equal(data.originId, bundle.originId);
    t.equal(data.status, 'scheduled');
  },
  'EventRepository.updateEvent': async t => {
    const { data } = await t.sdk.EventRepository.updateEvent((await create(t)).eventId, { title: 'Renamed' });
    t.equal(data.title, 'Renamed');
  },
  'EventRepository.deleteEvent': async t => {
    const { eventId } = await create(t);
    await t.sdk.EventRepository.deleteEvent(eventId);
    await t.rejects(t.bob.request('GET', `/api/v1/events/${eventId}`));
  },
  'EventRepository.getEvent': async t => {
    const { eventId } = await create(t);
    const live = t.watch(callback => t.sdk.EventRepository.getEvent(eventId, callback));
    await live.until('the event', ({ data }) => data?.eventId === eventId);
    await t.raw.EventRepository.updateEvent(eventId, { title: 'Renamed' });
    await live.until('the new title', ({ data }) => data.title === 'Renamed');
  },
  'EventRepository.getEvents': async t => {
    const { eventId, originId } = await create(t);
    const live = t.watch(callback => t.sdk.EventRepository.getEvents({ originType: 'community', originId, sortBy: 'createdAt', orderBy: 'desc' }, callback));
    await live.until('the event', has(eventId));
  },
  'EventRepository.getMyEvents': async t => {
    const { eventId } = await create(t);
    await t.request('POST', `/api/v1/events/${eventId}/rsvp`, { status: 'going' }).catch(() => t.request('PUT', `/api/v1/events/${eventId}/rsvp`, { status: 'going' }));
    const live = t.watch(callback => t.sdk.EventRepository.getMyEvents({ status: 'going' }, callback));
    await live.until('the event', has(eventId));
  },
  'EventRepository.getRSVPs': async t => {
    const planned = await create(t);
    await bobAnswers(t, planned, 'going');
    const live = t.watch(callback => t.sdk.EventRepository.getRSVPs({ eventId: planned.eventId, status: 'going' }, callback));
    await live.until('bob', ({ data }) => data.some(({ userId, userPublicId }) => [userId, userPublicId].includes(t.bob.id)));
  },
  'EventRepository.onEventCreated': event('onEventCreated', async (t, { originId }) => t.bob.call('EventRepository.createEvent', await plan(t, { originId }))),
  'EventRepository.onEventUpdated': event('onEventUpdated', (t, { eventId }) => t.bob.call('EventRepository.updateEvent', eventId, { title: 'Edited' })),
  'EventRepository.onEventDeleted': event('onEventDeleted', (t, { eventId }) => t.bob.call('EventRepository.deleteEvent', eventId)),
  'EventRepository.onRSVPCreated': event('onRSVPCreated', (t, planned) => t.request('POST', `/api/v1/events/${planned.eventId}/rsvp`, { status: 'going' })),
  'EventRepository.onRSVPUpdated': event('onRSVPUpdated', async (t, planned) => {
    await t.request('POST', `/api/v1/events/${planned.eventId}/rsvp`, { status: 'going' });
    await t.request('PUT', `/api/v1/events/${planned.eventId}/rsvp`, { status: 'not_going' });
  }),
  'EventRepository.onLocalEventCreated': async t => {
    await t.listen('EventRepository.onLocalEventCreated', () => create(t));
  },
  'EventRepository.onLocalEventUpdated': local('onLocalEventUpdated', (t, { eventId }) => t.raw.EventRepository.updateEvent(eventId, { title: 'Edited' })),
  'EventRepository.onLocalEventDeleted': local('onLocalEventDeleted', (t, { eventId }) => t.raw.EventRepository.deleteEvent(eventId)),
  'EventRepository.onLocalRSVPCreated': async t => {
    const { eventId } = await foreign(t);
    const { data } = await t.watch(callback => t.raw.EventRepository.getEvent(eventId, callback)).until('the event', ({ data }) => data);
    await t.listen('EventRepository.onLocalRSVPCreated', () => data.createRSVP('going'));
  },
  'EventRepository.onLocalRSVPUpdated': async t => {
    const { eventId } = await foreign(t);
    const { data } = await t.watch(callback => t.raw.EventRepository.getEvent(eventId, callback)).until('the event', ({ data }) => data);
    await data.createRSVP('going');
    await t.listen('EventRepository.onLocalRSVPUpdated', () => data.updateRSVP('not_going'));
  },
};
