import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';

/** For addresses at which the page has nothing. */
export const NotFound = () => (
  <>
    <Heading title="There is nothing here" />
    <p>
      The page has no such address. A job is at <code>/jobs/ID</code>, a worker at{' '}
      <code>/workers/NAME</code>. <Link to="/">To the fleet</Link>
    </p>
  </>
);
