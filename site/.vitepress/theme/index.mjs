// Without the fonts of the default theme: the system has some.
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
